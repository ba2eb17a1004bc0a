// The page of the words unit: requests draws from the service on this machine and shows them.
// Texts are sent in the body of a POST, never in a URL, and are not stored.
"use strict";

const SAMPLES = {
  a:
    "The library closes at nine, so we met at the museum instead. The guide talked about " +
    "painters, portraits and the price of colour; blue came from a stone that was dearer than " +
    "gold. Afterwards we walked to the station, missed the train, and drank coffee until the " +
    "next one. My brother still wants to be a sculptor.",
  b:
    "The engine stalled twice on the motorway, and the mechanic found a cracked valve. He " +
    "replaced the filter, cleaned the fuel pump and checked the brakes while we waited in the " +
    "garage. The repair cost more than the tyres last winter. Next year I would rather buy an " +
    "electric car, if the battery lasts.",
};
const MAX_LISTED = 70; // released words that are listed; the others are counted
const MAX_PIECES = 6000; // words of a text, and what stands between them, that are shown
const SIGNS = { near: "≈", same: "=", noise: "∗" }; // kinds of draws, told without colour too

const dials = ["loss", "neighbours", "length"].map(get);
let service = null; // the parameters of the service
let answer = null; // the last draws
let look = 0; // index of the text that is shown
let chosen = 0; // index of the selected draw

function kind(draw) {
  // is the output word near the drawn word, the same word, or any other word?
  const [place, became] = draw;
  if (place < 0) return "noise";
  const term = answer.terms[answer.texts[look].pieces[place][1]];
  if (became === term.word) return "same";
  return term.near.includes(became) ? "near" : "noise";
}

const refresh = makeRefresh(
  () => ({
    texts: SIDES.map((side) => get(`text-${side}`).value),
    loss: Number(get("loss").value),
    neighbours: Number(get("neighbours").value),
    length: Number(get("length").value),
  }),
  (found, milliseconds) => {
    answer = found;
    show();
    tell(`${number(2 * found.texts[0].draws.length)} words drawn in ${milliseconds} ms`);
  },
);

function change() {
  for (const dial of dials) {
    get(`${dial.id}-value`).textContent = dial.id === "loss" ? Number(dial.value).toFixed(1) : dial.value;
  }
  refresh();
}

function show() {
  showLead();
  showHints();
  SIDES.forEach((side, index) => showRead(side, answer.texts[index].read));
  showDraws();
  showSums();
  showRise();
  SIDES.forEach(showSeen);
}

function showLead() {
  const k = Number(get("neighbours").value);
  const near = Math.min(1, k * answer.near);
  get("lead-now").textContent =
    `With these settings ${k === 1 ? "the most similar word" : `one of the ${k} most similar words`} ` +
    `replaces a drawn word with a probability of ${percent(near)}, and any other of ` +
    `${number(service.outputs)} words with ${percent(1 - near)}.`;
}

function showHints() {
  const k = Number(get("neighbours").value);
  get("loss-hint").textContent =
    `One word changes the odds by at most e^ℓ = ${power(answer.loss)}. ε = ${number(answer.epsilon, 1)}`;
  get("neighbours-hint").textContent =
    k === 1
      ? `${percent(answer.near)} for the nearest word.`
      : `${percent(answer.near)} for each near word, ${percent(Math.min(1, k * answer.near))} for one of the ${k}.`;
  get("length-hint").textContent = `n · ℓ = ${lossText(answer.document)} for the document, however long it is.`;
}

function showDraws() {
  const text = answer.texts[look];
  const times = new Map();
  for (const [place] of text.draws) times.set(place, (times.get(place) || 0) + 1);
  const most = largest(times.values());
  chosen = Math.min(chosen, text.draws.length - 1);

  const hidden = text.pieces.slice(MAX_PIECES).filter(([, term]) => term >= 0).length;
  get("marked").replaceChildren(
    ...textPieces(text.pieces.slice(0, MAX_PIECES), hidden, (piece, term, place) => {
      if (term < 0) return null;
      const drawn = Math.ceil((3 * (times.get(place) || 0)) / most);
      const mark = make("mark", `drawn-${drawn}`, piece);
      mark.dataset.place = place;
      return mark;
    }),
  );

  const totals = { near: 0, same: 0, noise: 0 };
  get("draws").replaceChildren(
    ...text.draws.map((draw, index) => {
      const which = kind(draw);
      totals[which] += 1;
      const button = make("button", which);
      button.type = "button";
      button.tabIndex = index === chosen ? 0 : -1;
      button.dataset.index = index;
      button.append(
        make("span", "from", draw[0] < 0 ? "(no known word)" : text.pieces[draw[0]][0]),
        make("span", "arrow", `→ ${SIGNS[which]}`),
        make("span", "to", draw[1]),
      );
      const item = make("li");
      item.append(button);
      return item;
    }),
  );
  for (const which of Object.keys(totals)) {
    get(`share-${which}`).textContent = percent(totals[which] / text.draws.length);
  }
  choose(chosen);
}

function choose(index) {
  chosen = index;
  for (const button of get("draws").querySelectorAll("button")) {
    const on = Number(button.dataset.index) === index;
    button.setAttribute("aria-pressed", on);
    button.tabIndex = on ? 0 : -1;
  }
  const [place, became] = answer.texts[look].draws[index];
  for (const mark of get("marked").querySelectorAll("mark")) {
    mark.classList.toggle("chosen", Number(mark.dataset.place) === place);
  }
  showChart(place, became);
}

function showChart(place, became) {
  const hint = get("chosen-hint");
  if (place < 0) {
    hint.textContent = "This text has no known word: every word of the vocabulary is equally likely.";
    get("chart").replaceChildren();
    return;
  }
  const term = answer.terms[answer.texts[look].pieces[place][1]];
  const others = service.outputs - term.near.length;
  const isNear = term.near.includes(became);
  hint.textContent = `Probability of each word that may replace “${term.word}”. This time “${became}” replaced it.`;
  const rows = term.near.map((word) => [word, answer.near, word === term.word ? "is-same" : "", word === became]);
  if (!isNear) rows.push([became, answer.other, became === term.word ? "is-same" : "is-noise", true]);
  const left = others - !isNear;
  rows.push([`any of ${number(left)} other words`, left * answer.other, "is-noise", false]);
  const largest = Math.max(...rows.map((row) => row[1]));
  const list = make("ul", "bars");
  for (const [word, chance, className, drawn] of rows) {
    const item = make("li", `${className} ${drawn ? "drawn" : ""}`.trim());
    const track = make("span", "track");
    const bar = make("div", "bar");
    bar.style.width = `${(100 * chance) / largest}%`;
    track.append(bar);
    item.append(make("span", "name", drawn ? `${word} ←` : word), track, make("span", "value", percent(chance)));
    list.append(item);
  }
  const ratio = power(answer.loss);
  const note = make(
    "p",
    "hint",
    isNear
      ? `“${became}” is ${ratio} times more probable here than for a word that it is not near: e^ℓ, the largest ratio possible.`
      : `“${became}” is not near “${term.word}”. It is about as probable for nearly every other word, so it reveals next to nothing.`,
  );
  get("chart").replaceChildren(list, note);
}

function showSums() {
  const length = Number(get("length").value);
  const parts = [
    [lossText(answer.loss), "per word, ℓ"],
    [lossText(answer.document), `per document of ${length} words, n · ℓ`],
    [lossText(50 * answer.document), "per author of 50 such documents"],
  ];
  get("sums").replaceChildren(
    ...parts.map(([value, name]) => {
      const part = make("div");
      part.append(make("b", "", value), make("span", "", name));
      return part;
    }),
  );
}

function evidence(side) {
  // Sum over the draws of the log ratio: how much they favour their own text over the other.
  const says = new Map(answer.texts[side].counts.map(([word, , weight]) => [word, weight]));
  let sum = 0;
  return [0, ...answer.texts[side].draws.map(([, became]) => (sum += says.get(became)))];
}

function showRise() {
  const width = Math.max(280, get("rise").clientWidth);
  const height = Math.min(300, 140 + width / 5);
  const [left, right, top, bottom] = [52, 8, 16, 28];
  const length = answer.texts[0].draws.length;
  const bound = answer.document;
  const lines = [evidence(0), evidence(1)];
  const low = Math.min(0, ...lines.flat());
  const x = (step) => left + ((width - left - right) * step) / length;
  const y = (value) => height - bottom - ((height - top - bottom) * (value - low)) / (bound - low);
  const path = (values) => values.map((value, step) => `${step ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.setAttribute("aria-label", `Loss over words drawn: at most ${lossText(bound)} after ${length} words; ` +
    `these draws reach ${number(lines[0].at(-1))} for A and ${number(lines[1].at(-1))} for B.`);
  const axis = (value) => {
    svg.append(drawn("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "axis" }));
    const label = drawn("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" });
    label.textContent = lossText(value);
    svg.append(label);
  };
  svg.append(drawn("path", { d: `M${x(0)} ${y(0)}L${x(length)} ${y(bound)}L${x(length)} ${y(0)}Z`, class: "fan" }));
  [0, bound / 2, bound].forEach(axis);
  svg.append(drawn("path", { d: path([0, ...Array(length).fill(0).map((_, i) => (bound * (i + 1)) / length)]), class: "bound" }));
  lines.forEach((values, side) => svg.append(drawn("path", { d: path(values), class: `line-${SIDES[side]}` })));
  const most = drawn("text", { x: x(length * 0.8) - 6, y: y(bound * 0.8) - 8, class: "label-bound", "text-anchor": "end" });
  most.textContent = "upper bound: n · ℓ";
  svg.append(most);
  for (const [step, content, anchor] of [[0, "0", "middle"], [length, `${length} words drawn`, "end"]]) {
    const label = drawn("text", { x: x(step), y: height - 8, "text-anchor": anchor });
    label.textContent = content;
    svg.append(label);
  }
  get("rise").replaceChildren(svg);
  get("rise-hint").replaceChildren(
    ...lines.map((values, side) => {
      const part = make("span", `says-${SIDES[side]}`, `these draws of ${SIDES[side].toUpperCase()}: `);
      part.append(make("b", "", number(values.at(-1))));
      return part;
    }),
    make("span", "", "log odds for the right text, if words are judged one by one."),
  );
}

function showSeen(side, index) {
  const { counts } = answer.texts[index];
  const own = side.toUpperCase();
  const other = index ? "A" : "B";
  let sum = 0;
  let pointing = 0;
  for (const [, count, weight] of counts) {
    sum += count * weight;
    if (weight > 0.1) pointing += count;
  }
  const verdict = get(`verdict-${side}`);
  verdict.replaceChildren();
  const certain = Math.abs(sum);
  if (certain < 0.1) {
    verdict.append(make("b", "", "No evidence: A and B are equally likely."));
  } else {
    verdict.append(
      make("b", "", `Odds of ${power(certain)} to 1 for ${sum > 0 ? own : other}`),
      `, from ${pointing} words that point to ${own}. Guarantee: never above ${power(answer.document)} to 1.`,
    );
  }
  const items = counts.slice(0, MAX_LISTED).map(([word, count, weight]) => {
    const speaksFor = weight > 0.1 ? side : weight < -0.1 ? other.toLowerCase() : "";
    const item = make("li", speaksFor ? `for-${speaksFor}` : "", word);
    if (speaksFor) item.prepend(make("span", "letter", speaksFor.toUpperCase()));
    if (Math.abs(weight) > 2) item.classList.add("strong");
    if (count > 2) item.classList.add("big");
    if (count > 1) item.append(make("span", "count", `×${count}`));
    return item;
  });
  if (counts.length > MAX_LISTED) items.push(make("li", "rest", `and ${counts.length - MAX_LISTED} more`));
  get(`seen-${side}`).replaceChildren(...items);
}

function lookInto(index) {
  look = index;
  chosen = 0;
  SIDES.forEach((side, place) => get(`look-${side}`).setAttribute("aria-pressed", place === index));
  if (answer) showDraws();
}

function setDials() {
  get("neighbours").max = service.most_neighbours;
  for (const dial of dials) dial.value = service[dial.id];
  change();
}

get("draws").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) choose(Number(button.dataset.index));
});

get("draws").addEventListener("keydown", (event) => {
  // The tab key stops here once; the arrow keys move from draw to draw.
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  if (!(event.key in steps)) return;
  event.preventDefault();
  const last = answer.texts[look].draws.length - 1;
  choose(Math.max(0, Math.min(last, chosen + steps[event.key])));
  get("draws").querySelectorAll("button")[chosen].focus();
});

for (const dial of dials) dial.addEventListener("input", change);
SIDES.forEach((side, index) => {
  get(`text-${side}`).value = SAMPLES[side];
  get(`text-${side}`).addEventListener("input", refresh);
  get(`look-${side}`).addEventListener("click", () => lookInto(index));
});
get("again").addEventListener("click", refresh);
get("reset").addEventListener("click", setDials);

addEventListener("resize", () => answer && showRise());

startPage((found) => {
  service = found;
  setDials();
});
