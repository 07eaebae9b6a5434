"use strict";

/** The page's program: each file adds its functions here. */
const page = { data: JSON.parse(document.getElementById("data").textContent) };

/** Text with control characters, and those that turn the direction of what follows, as escapes. Joiners stay. */
page.visible = (text) =>
  // deno-lint-ignore no-control-regex
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

const shown = (child) => typeof child === "string" ? page.visible(child) : child;

/** Creates an element. Properties are set as properties, never as markup; children are nodes or texts. */
page.element = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined).map(shown));
  return element;
};

/** Creates an element of SVG with attributes. */
page.shape = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const INERT = new Set(
  "P BR HR H1 H2 H3 H4 H5 H6 EM STRONG DEL CODE PRE SMALL U SAMP UL OL LI BLOCKQUOTE TABLE THEAD TBODY TR TH TD"
    .split(" "),
);

/** Copies rendered text: elements that only shape text, without attributes. Anything else is shown as its source. */
page.inert = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return copies(template.content);
};

function copies(parent) {
  const fragment = document.createDocumentFragment();
  for (const node of parent.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) fragment.append(page.visible(node.data));
    else if (INERT.has(node.nodeName)) {
      const copy = document.createElement(node.nodeName);
      copy.append(copies(node));
      fragment.append(copy);
    } else if (node.outerHTML !== undefined) fragment.append(page.visible(node.outerHTML));
  }
  return fragment;
}

const FOLDED_LINES = 24;
const FOLDED_LENGTH = 2400;

/** A text; if it is long, a button shows the rest. `draw` makes an element of the lines. */
page.folded = (text, draw) => {
  const lines = text.split("\n");
  if (lines.length <= FOLDED_LINES + 8 && text.length <= 1.3 * FOLDED_LENGTH) return draw(text);
  const head = wellFormed(lines.slice(0, FOLDED_LINES).join("\n").slice(0, FOLDED_LENGTH));
  const rest = lines.length > FOLDED_LINES ? `all ${lines.length} lines` : `all ${text.length} characters`;
  const holder = page.element("div", { className: "folded" }, draw(head));
  const button = page.element("button", { type: "button", className: "unfold", textContent: `show ${rest}` });
  button.addEventListener("click", () => holder.replaceChildren(draw(text)));
  holder.append(button);
  return holder;
};

function wellFormed(text) {
  return text.replace(/[\ud800-\udbff]$/, "");
}

/** Plain text in lines. */
page.plain = (text) => page.element("pre", { dir: "auto" }, text);

/** Rendered text, or plain text that was too long to render. */
page.rich = (rich) => {
  if (rich.html === undefined) return page.folded(rich.text, page.plain);
  return page.element("div", { className: "rich", dir: "auto" }, page.inert(rich.html));
};

/** An ISO time in local time. */
page.time = (at) => {
  const date = new Date(at);
  const text = Number.isNaN(date.getTime()) ? at : date.toLocaleString();
  return page.element("time", { dateTime: at, title: at, textContent: text });
};

/** A duration for people. */
page.duration = (milliseconds) => {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
};

/** A count with separators. */
page.count = (count) => count.toLocaleString("en");

/** US dollars; `unknown` for `null`. */
page.cost = (dollars) => dollars === null ? "unknown" : `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
