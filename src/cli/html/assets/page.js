"use strict";

const articles = [...document.querySelectorAll("article")];
const find = document.querySelector("[type=search]");
const found = document.querySelector("output");
const help = document.querySelector("dialog");
const place = () => articles.indexOf(document.querySelector(":target")?.closest("article"));

/** Follows a link to an entry: the browser scrolls to it and marks it. */
const go = (index) => {
  const article = articles[Math.min(Math.max(index, 0), articles.length - 1)];
  if (article !== undefined) location.replace(`#${article.id}`);
};

/** Goes to the first entry of the group after or before. */
const goGroup = (step) => {
  const now = articles[Math.max(place(), 0)];
  const firsts = [...document.querySelectorAll("h2 + article")];
  const group = firsts.findLastIndex((first) => first === now || isBefore(first, now));
  const next = firsts[group + step];
  if (next !== undefined) go(articles.indexOf(next));
};
const isBefore = (a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;

let hits = [];
let hit = -1;

/** Finds a text, whatever its case, also in parts that are folded. */
const search = () => {
  const query = find.value.toLowerCase();
  hits = [];
  hit = -1;
  for (const article of query === "" ? [] : articles) {
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { currentNode: node } = walker;
      const text = node.data.toLowerCase();
      for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
        if (at + query.length <= node.length) hits.push({ node, at, end: at + query.length });
      }
    }
  }
  found.value = query === "" ? "" : hits.length === 0 ? "no hit" : String(hits.length);
  mark();
};

const MARKED = 2000;
const rangeOf = ({ node, at, end }) => {
  const range = new Range();
  range.setStart(node, at);
  range.setEnd(node, end);
  return range;
};
const mark = () => {
  if (globalThis.Highlight === undefined) return;
  CSS.highlights.set("hits", new Highlight(...hits.slice(0, MARKED).map(rangeOf)));
  CSS.highlights.set("hit", new Highlight(...hits.slice(hit, hit + 1).map(rangeOf)));
};

const nextHit = (step) => {
  if (hits.length === 0) return;
  hit = hit < 0 && step < 0 ? hits.length - 1 : (hit + step + hits.length) % hits.length;
  const parent = hits[hit].node.parentElement;
  for (let each = parent; each !== null; each = each.parentElement) {
    if (each.tagName === "DETAILS") each.open = true;
  }
  const article = parent.closest("article");
  if (article !== articles[place()]) go(articles.indexOf(article));
  parent.scrollIntoView({ block: "center" });
  found.value = `${hit + 1} of ${hits.length}`;
  mark();
};

const unfold = (element) => {
  for (const details of element?.querySelectorAll("details") ?? []) details.open = true;
};

const changeTheme = () => {
  const { dataset } = document.documentElement;
  const theme = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  dataset.theme = theme === "dark" ? "light" : "dark";
};

const KEYS = {
  "/": ["search; Enter is the next hit", () => find.focus()],
  "n": ["next hit", () => nextHit(1)],
  "N": ["hit before", () => nextHit(-1)],
  "j": ["next entry", () => go(place() + 1)],
  "k": ["entry before", () => go(place() - 1)],
  "]": ["next run", () => goGroup(1)],
  "[": ["run before", () => goGroup(-1)],
  "g": ["first entry", () => go(0)],
  "G": ["last entry", () => go(articles.length - 1)],
  "e": ["unfold the entry", () => unfold(articles[place()])],
  "t": ["light or dark", changeTheme],
  "?": ["these keys", () => help.open ? help.close() : help.showModal()],
};
for (const [key, [text]] of Object.entries(KEYS)) {
  const line = document.createElement("p");
  const name = document.createElement("kbd");
  name.textContent = key;
  line.append(name, ` ${text}`);
  help.append(line);
}

let searched = "";
find.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    find.value = "";
    find.blur();
  } else if (event.key !== "Enter") return;
  event.preventDefault();
  if (searched !== find.value) search();
  searched = find.value;
  if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === find) return;
  const [, act] = KEYS[event.key] ?? [];
  if (act === undefined) return;
  event.preventDefault();
  act();
});
const [themeButton, keysButton] = document.querySelectorAll("header button");
themeButton.addEventListener("click", changeTheme);
keysButton.addEventListener("click", KEYS["?"][1]);
help.addEventListener("click", () => help.close());
addEventListener("beforeprint", () => unfold(document));
document.querySelector("search").hidden = false;
