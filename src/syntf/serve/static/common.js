// What both pages share: elements, numbers for people, and one request at a time.
"use strict";

const get = (id) => document.getElementById(id);
const SIDES = ["a", "b"];
const RETRY_MS = 2000;

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawn(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function number(value, digits = 0) {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function lossText(value) {
  // A loss is never shown as 0, however small it is.
  if (value === 0) return "0";
  if (value >= 10) return number(value, Number.isInteger(Math.round(value * 1e6) / 1e6) ? 0 : 1);
  if (value >= 1) return number(value, 2);
  return value.toPrecision(2);
}

function percent(share) {
  if (share >= 0.9995) return share === 1 ? "100 %" : "> 99.9 %";
  if (share >= 0.1) return `${(100 * share).toFixed(share > 0.9 ? 1 : 0)} %`;
  if (share >= 0.001) return `${(100 * share).toFixed(1)} %`;
  return `${(100 * share).toPrecision(1)} %`;
}

function power(exponent) {
  // e to a power, rounded for reading
  if (exponent < 14) return number(Math.exp(exponent), exponent < 3 ? 1 : 0);
  return `10${superscript(Math.round(exponent / Math.LN10))}`;
}

function superscript(value) {
  return String(value).replace(/[0-9]/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
}

function largest(values) {
  let most = -Infinity;
  for (const value of values) if (value > most) most = value;
  return most;
}

function tell(text, wrong = false) {
  get("status").textContent = text;
  get("status").classList.toggle("wrong", wrong);
}

function makeRefresh(body, show) {
  // Send one request at a time; changes made meanwhile are sent after it. Results that do not
  // belong to the texts on the screen are dimmed. If the service does not answer, try again.
  let waiting = false;
  let again = false;
  let retry = null;

  async function refresh() {
    clearTimeout(retry);
    if (waiting) {
      again = true;
      return;
    }
    waiting = true;
    const main = get("main");
    main.setAttribute("aria-busy", true);
    const late = setTimeout(() => main.classList.add("stale"), 200);
    const began = performance.now();
    const response = await fetch("/page/draw", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body()),
    }).catch(() => null);
    const found = response && (await response.json().catch(() => null));
    clearTimeout(late);
    if (found && response.ok) {
      show(found, Math.ceil(performance.now() - began));
    } else if (found) {
      tell(`${found.detail}. The results below are old.`, true);
    } else {
      tell("The service does not answer; trying again. The results below are old.", true);
      retry = setTimeout(refresh, RETRY_MS);
    }
    main.classList.toggle("stale", !(found && response.ok));
    waiting = false;
    if (again) {
      again = false;
      refresh();
    } else {
      main.setAttribute("aria-busy", false);
    }
  }

  addEventListener("online", refresh);
  return refresh;
}

async function startPage(begin) {
  // Ask for the values of the service until it answers.
  try {
    const response = await fetch("/page/start");
    begin(await response.json());
  } catch {
    tell("The service does not answer; trying again.", true);
    setTimeout(() => startPage(begin), RETRY_MS);
  }
}

function showRead(side, read) {
  // Say under a text how many of its words are known, and warn if it cannot be read.
  const field = get(`text-${side}`);
  const note = get(`read-${side}`) || make("p");
  note.id = `read-${side}`;
  note.className = read.notes.length ? "read wrong" : "read hint";
  const count = `${number(read.known)} of ${number(read.words)} words are known; stop words do not count.`;
  note.textContent = read.notes.length ? `⚠ ${read.notes.join(" ")}` : read.words ? count : "";
  if (!note.parentNode) {
    field.after(note);
    field.setAttribute("aria-describedby", note.id);
  }
}

function textPieces(pieces, left, marks) {
  // Elements for the pieces of a text; `marks` makes the element of a known word.
  const elements = pieces.map(([piece, known], place) => {
    const mark = marks(piece, known, place);
    return mark || document.createTextNode(piece);
  });
  if (left) elements.push(make("em", "hint", ` … and ${number(left)} more words, which count too`));
  return elements;
}
