"use strict";

const $ = (id) => document.getElementById(id);
const FIELDS = ["text", "keep", "loss", "author"];
const READING = ["encoding", "delimiter", "sheet", "input_format"];
const KINDS = { rows: { title: "One row for each document", command: "anonymize" } };
const UNITS = {
  document_loss: { label: "Largest loss of a document", option: "--loss", range: [0.5, 20, 0.5] },
  word_loss: { label: "Largest loss of each word", option: "--word-loss", range: [1, 12, 0.5] },
  epsilon: { label: "ε of the paper", option: "--epsilon", range: null },
};
const GUESSES = { text: "looks like texts", label: "looks like labels", author: "looks like authors" };
const STAGES = { waiting: "Waiting for another release", reading: "Reading the texts" };

let start;        // what the service says at the beginning
let upload;       // the file that was chosen: path, name, columns, reading
let found = {};   // what to expect of the choices

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function list(id, lines) {
  $(id).replaceChildren(...lines.map((line) => element("li", {}, line)));
}

function percent(share) {
  if (share > 0.999 && share < 1) return "over 99.9 %";
  return share < 0.001 ? "under 0.1 %" : `${(100 * share).toFixed(1)} %`;
}

function number(value) {
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}

/* Show what is wrong beside a field, or that nothing is. */
function tell(field, message) {
  $(`error-${field}`).textContent = message ?? "";
  $(`error-${field}`).hidden = !message;
  $(field)?.setAttribute("aria-invalid", Boolean(message));
}

async function ask(method, path, body) {
  const raw = body === undefined || body instanceof Blob;
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: { "Content-Type": raw ? "application/octet-stream" : "application/json" },
      body: raw ? body : JSON.stringify(body),
    });
  } catch {
    throw Error("The program does not answer, or the file cannot be read: is syntf serve still running?");
  }
  const content = await answer.json();
  if (!answer.ok) throw Error(content.detail);
  return content;
}

/* Do something; show an error of it beside a field. */
async function attempt(field, work) {
  tell(field);
  try {
    return await work();
  } catch (error) {
    tell(field, error.message);
    return undefined;
  }
}

/* 1. The file */

function forget() {
  if (upload) fetch(upload.path, { method: "DELETE", keepalive: true });
  upload = undefined;
}

async function choose(file) {
  forget();
  for (const id of ["form", "result", "reading"]) $(id).hidden = true;
  for (const name of READING) $(name).value = "";
  $("file-status").textContent = `Copying ${file.name} …`;
  const sent = await attempt("file", () => ask("PUT", `/page/files?name=${encodeURIComponent(file.name)}`, file));
  $("file-status").textContent = "";
  if (!sent) return;
  upload = { path: `/page/files/${sent.id}`, name: file.name };
  $("reading").hidden = false;
  await look();
}

/* Read the first rows, and show them. */
async function look() {
  const reading = {};
  for (const name of READING) if ($(name).value) reading[name] = $(name).value;
  const seen = await attempt("file", () => ask("POST", `${upload.path}/columns`, reading));
  $("form").hidden = !seen;
  $("reading").open = !seen;
  if (!seen) return;
  Object.assign(upload, { reading, columns: seen.columns, documents: seen.documents });
  const documents = `${seen.estimated ? "about " : ""}${number(seen.documents)}`;
  $("file-status").textContent = `${upload.name}: ${documents} documents, ${number(seen.columns.length)} columns`;
  list("notices", seen.notices);
  const names = seen.columns.map((column) => column.name);
  const options = (guess) => names.map((name) => new Option(name, name, false, name === guess));
  $("text").replaceChildren(...options(seen.guess.text));
  $("author").replaceChildren(new Option("none", ""), ...options());
  $("columns").replaceChildren(...seen.columns.map((column) => {
    const role = Object.keys(GUESSES).find((one) => seen.guess[one] === column.name);
    const tick = element("input", { type: "checkbox", name: "keep", value: column.name });
    return element("li", {},
      element("label", {}, tick, element("b", {}, column.name), element("span", { className: "tag", textContent: GUESSES[role] ?? "" })),
      element("p", { className: "sample" }, column.sample.join(" · ")),
      element("ul", { className: "warnings" }));
  }));
  await Promise.all([check(), tryText()]);
  $("columns-title").focus();
}

/* 2 and 3. The choices */

function unit() {
  return Object.keys(UNITS).find((one) => one in start.presets[preset()]);
}

function preset() {
  return document.querySelector("[name=preset]:checked").value;
}

function setLoss(value) {
  const { label, range } = UNITS[unit()];
  $("dial").hidden = !range;
  if (range) [$("loss").min, $("loss").max, $("loss").step] = range;
  $("loss").value = value;
  $("loss-label").textContent = label;
}

function loss() {
  return UNITS[unit()].range ? Number($("loss").value) : start.presets[preset()][unit()];
}

function choices() {
  const ticks = [...document.querySelectorAll("[name=keep]:checked")];
  return {
    kind: document.querySelector("[name=kind]:checked").value,
    text: $("text").value,
    keep: ticks.filter((tick) => !tick.disabled).map((tick) => tick.value),
    shuffle: $("shuffle").checked,
    author: $("author").value || null,
    author_loss: $("author_loss").value ? Number($("author_loss").value) : null,
    preset: preset(),
    loss: loss(),
    format: $("format").value,
  };
}

/* Say in words what the loss means. */
function expected() {
  const what = found.listed ? "topic" : "word";
  const lines = [
    `Each document is released as ${number(found.draws)} ${what}${found.draws > 1 ? "s" : ""} out of ${number(found.answers)} public ones.`,
  ];
  if (found.kept) {
    const truth = found.listed ? "The true topic" : "The public word nearest to a word of the text";
    lines.push(`${truth} is released in ${percent(found.kept)} of draws, else any other by chance.`);
  }
  if (found.loss <= 25) {
    lines.push(`Whatever else is known, the odds between two texts change by a factor of ${found.factor} at most.`);
  } else {
    lines.push(`A document loses ${number(found.loss)} at most: for a whole document this excludes nothing. It limits what one word tells, to ${number(found.loss_per_draw)}.`);
  }
  if (found.draws > 1) {
    lines.push(`Whoever holds a text finds its row more easily than with one ${what}.`);
  } else if (found.kept >= 0.9) {
    lines.push("It is the coarse list of topics that hides a document, not chance: a rare topic is disclosed almost surely.");
  } else if (found.kept < 0.5) {
    lines.push("Most single rows are wrong by chance: look at counts of many documents.");
  }
  return lines;
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

function command() {
  const chosen = choices();
  const options = [
    ["--text", chosen.text], ...chosen.keep.map((name) => ["--keep", name]),
    ["--preset", chosen.preset], [UNITS[unit()].option, chosen.loss],
    ["--author", chosen.author], ["--author-loss", chosen.author && chosen.author_loss],
    ["--codebook", unit() === "document_loss" && start.codebook], ["--ledger", start.ledger],
    ["--language", start.language !== "en" && start.language],
    ["--format", chosen.format !== "npz" && chosen.format],
    ...READING.map((name) => [`--${name.replace("_", "-")}`, upload.reading[name]]),
    ["--out", `${upload.name.replace(/\..*/, "")}-release`],
  ];
  const words = options.filter(([, value]) => value).flat();
  const input = upload.name.startsWith("-") ? `./${upload.name}` : upload.name;
  if (chosen.shuffle) words.unshift("--shuffle");
  return ["syntf", KINDS[chosen.kind].command, input, ...words].map((word) => quoted(String(word))).join(" ");
}

let asked = 0;

/* Ask what to expect of the choices; show it, and what is wrong with each of them. */
async function check() {
  $("loss-value").textContent = loss();
  $("try-method").textContent = `(${UNITS[unit()].label.toLowerCase()}: ${loss()})`;
  if (!upload?.columns) return;
  for (const row of $("columns").children) {
    const tick = row.querySelector("input");
    const column = upload.columns.find((one) => one.name === tick.value);
    tick.disabled = tick.value === $("text").value;
    row.classList.toggle("text", tick.disabled);
    const warnings = $("shuffle").checked ? column.if_shuffled : column.warnings;
    const lines = tick.disabled ? [] : warnings.map((line) => element("li", {}, line));
    row.querySelector("ul").replaceChildren(...lines);
    row.classList.toggle("kept", tick.checked && !tick.disabled);
  }
  $("command").textContent = command();
  const own = ++asked;
  const slow = setTimeout(() => list("expect", ["Measuring the loss. The first time takes up to a minute …"]), 700);
  const answer = await attempt("run", () => ask("POST", `${upload.path}/check`, choices()));
  clearTimeout(slow);
  if (!answer || own !== asked) return;
  found = answer;
  for (const field of FIELDS) tell(field, found.errors[field]);
  list("expect", found.errors.loss ? [] : expected());
  const most = found.per_author;
  $("author-hint").textContent = most ? `At most ${number(most)} document${most > 1 ? "s" : ""} of each author.` : "";
}

/* 4. The run */

async function run() {
  clearTimeout(waiting);
  await check();
  const wrong = FIELDS.find((field) => !$(`error-${field}`).hidden);
  if (wrong) {
    const field = $(wrong) ?? document.querySelector("[name=keep]:checked");
    field.closest("details")?.setAttribute("open", "");
    return field.focus();
  }
  const begun = await attempt("run", () => ask("POST", `${upload.path}/run`, choices()));
  if (begun === undefined) return;
  $("choices").disabled = $("choose").inert = true;
  $("progress").hidden = false;
  $("cancel").disabled = false;
  $("cancel").focus();
  const state = await attempt("run", finished);
  $("progress").hidden = true;
  if (state?.made) return show(state.made);
  $("choices").disabled = $("choose").inert = false;
  if (state) tell("run", state.message);
  $("run").focus();
}

/* Show the progress until the run has ended. */
async function finished() {
  for (;;) {
    const state = await ask("GET", `${upload.path}/run`);
    if (state.state !== "running") return state;
    const { stage, done, total } = state;
    $("stage").textContent = `${STAGES[stage] ?? stage[0].toUpperCase() + stage.slice(1)} …`;
    if (total) $("bar").value = Math.min(1, done / total);
    else $("bar").removeAttribute("value");
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function show(made) {
  const facts = [`${number(made.documents)} documents were released, each with a loss of ${number(made.loss)} at most.`];
  if (made.left_out) facts.push(`${number(made.left_out)} were left out to limit the loss of authors.`);
  facts.push(made.promise);
  if (made.run) facts.push(`The ledger was charged: run ${made.run}.`);
  list("facts", facts);
  list("made-notices", made.notices);
  $("download").href = `${upload.path}/release.zip`;
  $("open").href = $("report").src = `${upload.path}/report.html`;
  $("file-status").textContent = "";
  for (const id of ["choose", "form"]) $(id).hidden = true;
  $("result").hidden = false;
  $("result-title").focus();
}

/* One typed text */

async function tryText() {
  const body = { text: $("typed").value, preset: preset(), loss: loss() };
  const documents = upload?.documents ? `?documents=${upload.documents}` : "";
  const seen = await attempt("try", () => ask("POST", `/page/try${documents}`, body));
  if (!seen || body.text !== $("typed").value) return;
  const rest = 1 - seen.answers.reduce((sum, one) => sum + one.chance, 0);
  const row = (name, chance, words = []) => {
    const bar = element("meter", { max: 1, value: chance, ariaLabel: `Probability of ${name}` });
    const more = words.length > 1 ? [element("p", { className: "sample" }, `Its words: ${words.join(", ")}`)] : [];
    return element("li", {}, element("b", {}, name), element("span", {}, percent(chance)), bar, ...more);
  };
  const others = row(`any of ${number(seen.all - seen.answers.length)} others`, rest);
  $("answers").replaceChildren(...seen.answers.map((one) => row(one.name, one.chance, one.words)), others);
  $("draws").textContent = seen.draws > 1 ? `one of ${seen.draws} draws` : "";
  if (!seen.known) tell("try", "No word of this text is known, and it is released as such.");
}

/* Everything that a person can do */

let waiting;

/* Do something soon, once, however often it is asked for. */
function soon(...work) {
  clearTimeout(waiting);
  waiting = setTimeout(() => work.forEach((one) => one()), 200);
}

function listen() {
  $("file").addEventListener("change", () => $("file").files[0] && choose($("file").files[0]));
  $("example").addEventListener("click", async () => {
    const content = await (await fetch("/page/example.csv")).blob();
    choose(new File([content], "example.csv"));
  });
  document.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
  document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    $("drop").classList.remove("over");
    const folder = event.dataTransfer.items[0]?.webkitGetAsEntry?.()?.isDirectory;
    if (folder) tell("file", "This is a folder. Choose one file, or use the command line for a folder.");
    else if (event.dataTransfer.files[0] && !$("choices").disabled) choose(event.dataTransfer.files[0]);
  });
  $("again").addEventListener("click", look);
  $("form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
  $("form").addEventListener("input", (event) => {
    if (event.target.name === "preset") setLoss(start.presets[preset()][unit()]);
    $("loss-value").textContent = loss();
    soon(check, tryText);
  });
  $("typed").addEventListener("input", () => soon(tryText));
  $("cancel").addEventListener("click", () => { $("cancel").disabled = true; ask("POST", `${upload.path}/cancel`, {}); });
  $("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText($("command").textContent);
    $("copied").textContent = "Copied";
  });
  $("restart").addEventListener("click", () => location.reload());
  addEventListener("pagehide", forget);
}

async function begin() {
  start = await ask("GET", "/page/start");
  start.kinds.forEach((kind, place) => {
    const choice = element("input", { type: "radio", name: "kind", value: kind, checked: !place });
    $("kinds").append(element("label", {}, choice, element("b", {}, KINDS[kind].title)));
  });
  $("kinds").hidden = start.kinds.length < 2;
  const first = Object.keys(start.presets).find((name) => start.unit in start.presets[name]);
  document.querySelector(`[value=${first}]`).checked = true;
  setLoss(start.loss);
  $("language").textContent = start.language;
  listen();
  await check();
  await tryText();
}

attempt("file", begin);
