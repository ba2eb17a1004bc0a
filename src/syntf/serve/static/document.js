// The page of the document unit: requests draws from the service on this machine and shows them.
// Texts are sent in the body of a POST, never in a URL, and are not stored.
"use strict";

const SAMPLES = {
  a:
    "The library closes at nine, so we met at the museum instead. The guide talked about " +
    "painters, portraits and the price of colour; blue came from a stone that was dearer than " +
    "gold. Afterwards we saw the sculptures in the garden. My brother still wants to be a painter.",
  b:
    "The engine stalled twice on the motorway, and the mechanic found a cracked valve. He " +
    "replaced the filter, cleaned the fuel pump and checked the brakes while we waited in the " +
    "garage. The repair cost more than the tyres last winter. Next year I would rather buy an " +
    "electric car, if the battery lasts.",
};

let service = null; // the values of the service
let answer = null; // the last draws

const refresh = makeRefresh(
  () => ({
    texts: SIDES.map((side) => get(`text-${side}`).value),
    loss: Number(get("loss").value),
  }),
  (found, milliseconds) => {
    answer = found;
    show();
    tell(`drawn in ${milliseconds} ms`);
  },
);

function choice() {
  // What is chosen for a document, in words.
  const several = answer.size * answer.draws;
  if (answer.kind === "topics") return several === 1 ? "topic" : `${several} topics`;
  return several === 1 ? "word" : `${several} words`;
}

function amount(value) {
  return value < 1e7 ? number(value) : `about 10${superscript(Math.round(Math.log10(value)))}`;
}

function show() {
  showLead();
  SIDES.forEach((side, index) => showRead(side, answer.texts[index].read));
  SIDES.forEach(showPath);
  showMeaning();
  SIDES.forEach(showSeen);
}

function showLead() {
  const what = answer.kind === "topics" ? "topics" : "words";
  const own = answer.size * answer.draws === 1 ? "one" : String(answer.size * answer.draws);
  const list = answer.earlier ? "of an earlier release" : "that is the same for all texts";
  get("lead-now").textContent =
    `Here it is ${own} of ${number(answer.entries)} ${what}, from a list ${list}. ` +
    `The right choice is kept with a probability of ${percent(answer.kept)}; ` +
    "otherwise any choice is released, each equally likely.";
  get("loss-hint").textContent =
    `The release changes the odds between any two documents by at most e^ε = ${power(answer.loss)}.`;
}

function step(className, title, ...content) {
  const item = make("li", className);
  item.append(make("span", "step", title), ...content);
  return item;
}

function badge(kept) {
  return make("span", `badge ${kept ? "near" : "noise"}`, kept ? "= kept" : "∗ any other (noise)");
}

function showPath(side, index) {
  const text = answer.texts[index];
  const marked = make("p", "marked");
  marked.append(
    ...textPieces(text.pieces, text.left_out, (piece, known) => (known ? make("mark", "drawn-1", piece) : null)),
  );
  marked.tabIndex = 0;
  marked.setAttribute("role", "region");
  marked.setAttribute("aria-label", `Known words of text ${side.toUpperCase()}`);
  const [, kept] = text.draws[0];
  const again = make("ul", "again");
  again.append(
    ...text.draws.slice(1).map(([label, same]) =>
      make("li", same ? "near" : "noise", `${same ? "=" : "∗"} ${label}`)),
  );
  const total = text.draws.length - 1;
  const same = text.draws.slice(1).filter(([, one]) => one).length;
  const more = make("details");
  more.append(
    make("summary", "", `${total} more draws of this text: ${same} kept (=), ${total - same} noise (∗)`),
    again,
  );
  get(`path-${side}`).replaceChildren(
    step("", service.encoder
      ? "The text. An encoder reads all of it; marked words are known."
      : "The text. Marked words are known; each counts by how much it says about a topic.", marked),
    step("", text.empty ? "No known word: a fixed choice is taken" : `The ${choice()} that describes it best`,
      make("span", "name", text.target)),
    step("", `Kept with a probability of ${percent(answer.kept)}`, bars()),
    step(kept ? "kept" : "other", "Released", make("span", "name", text.label), " ", badge(kept)),
    step("", "Every draw is a release of its own, and their losses would add up", more),
  );
}

function bars() {
  const list = make("ul", "bars");
  const rows = [
    ["= the right choice", answer.kept, ""],
    [`∗ any of ${amount(answer.answers - 1)} others`, 1 - answer.kept, "is-noise"],
  ];
  for (const [name, chance, className] of rows) {
    const item = make("li", className);
    const track = make("span", "track");
    const bar = make("div", "bar");
    bar.style.width = `${100 * chance}%`;
    track.append(bar);
    item.append(make("span", "name", name), track, make("span", "value", percent(chance)));
    list.append(item);
  }
  return list;
}

function showMeaning() {
  const odds = power(answer.loss);
  get("meaning").textContent =
    `A loss of ${lossText(answer.loss)} per document: whoever held odds of 1 to ${odds} that a ` +
    "document is a certain text can, after the release, hold even odds at most. This holds for any two " +
    "texts, whatever else the attacker knows, and however long the text is. An author of several " +
    "documents loses that much with each of them.";
  const parts = [
    [lossText(answer.loss), "per document"],
    [odds, "the most by which odds can change"],
    [lossText(50 * answer.loss), "per author of 50 documents"],
  ];
  get("sums").replaceChildren(
    ...parts.map(([value, name]) => {
      const part = make("div");
      part.append(make("b", "", value), make("span", "", name));
      return part;
    }),
  );
}

function showSeen(side, index) {
  const text = answer.texts[index];
  const own = side.toUpperCase();
  const other = index ? "A" : "B";
  const verdict = get(`verdict-${side}`);
  const says =
    Math.abs(text.odds) < 1e-9
      ? ["No evidence: A and B are equally likely.", ""]
      : [
          `Odds of ${power(Math.abs(text.odds))} to 1 for ${text.odds > 0 ? own : other}.`,
          ` Guarantee: never above ${power(answer.loss)} to 1.`,
        ];
  verdict.replaceChildren(make("b", "", says[0]), says[1]);
  const items = [make("li", "big strong", text.label)];
  for (const [word, count] of text.counts) {
    const item = make("li", "", word);
    item.append(make("span", "count", `×${count}`));
    items.push(item);
  }
  get(`seen-${side}`).replaceChildren(...items);
}

function change() {
  get("loss-value").textContent = lossText(Number(get("loss").value));
  refresh();
}

function setDials() {
  const dial = get("loss");
  dial.min = Math.min(0.5, service.loss);
  dial.max = Math.max(40, Math.ceil(service.loss));
  dial.step = Number.isInteger(2 * service.loss) ? 0.5 : "any";
  dial.value = service.loss;
  change();
}

SIDES.forEach((side) => {
  get(`text-${side}`).value = SAMPLES[side];
  get(`text-${side}`).addEventListener("input", refresh);
});
get("loss").addEventListener("input", change);
get("again").addEventListener("click", refresh);
get("reset").addEventListener("click", setDials);

startPage((found) => {
  service = found;
  setDials();
});
