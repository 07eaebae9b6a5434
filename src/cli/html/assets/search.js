"use strict";

(() => {
  const LISTED = 200;
  const AROUND = 40;
  let texts = null;
  let hits = [];
  let current = -1;
  let query = "";

  /** The texts of an entry, in one; markup that shapes text is left out. */
  function textOf(value) {
    if (typeof value === "string") return `${value}\n`;
    if (Array.isArray(value)) return value.map(textOf).join("");
    if (typeof value !== "object" || value === null) return "";
    return Object.entries(value).map(([name, member]) => {
      if (name === "html") return `${unescaped(member)}\n`;
      return name === "type" || name === "tone" || name === "src" ? "" : textOf(member);
    }).join("");
  }

  function unescaped(html) {
    return html.replace(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll(
      "&amp;",
      "&",
    );
  }

  /** Finds the entries with a text, whatever its case. */
  page.search = (text) => {
    query = text.toLowerCase();
    texts ??= page.data.entries.map((entry) => textOf(entry));
    hits = [];
    if (query !== "") {
      for (const [index, whole] of texts.entries()) {
        const at = whole.toLowerCase().indexOf(query);
        if (at < 0) continue;
        const head = whole.slice(Math.max(0, at - AROUND), at);
        hits.push({
          index,
          head,
          found: whole.slice(at, at + query.length),
          tail: whole.slice(at + query.length, at + query.length + AROUND),
        });
      }
    }
    current = -1;
    page.highlight();
    return hits;
  };

  /** Goes to the next hit, or the one before. */
  page.nextHit = (step) => {
    if (hits.length === 0) return null;
    current = current < 0 && step < 0 ? hits.length - 1 : (current + step + hits.length) % hits.length;
    page.goToHit(current);
    return current;
  };

  page.goToHit = (number) => {
    current = number;
    const article = page.go(hits[number].index);
    for (const button of article.querySelectorAll(".unfold")) button.click();
    for (const details of article.querySelectorAll("details")) details.open = true;
    page.highlight();
    const [range] = rangesIn(article);
    page.hold(range?.startContainer.parentElement ?? article);
    page.showHits(hits, current);
  };

  function rangesIn(root) {
    if (query === "") return [];
    const ranges = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      for (
        let at = text.indexOf(query);
        at >= 0 && text.length === node.data.length;
        at = text.indexOf(query, at + query.length)
      ) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + query.length);
        ranges.push(range);
      }
    }
    return ranges;
  }

  /** Marks the text in everything that is drawn. */
  page.highlight = () => {
    if (globalThis.Highlight === undefined) return;
    const drawn = [...document.querySelectorAll("article.drawn")];
    CSS.highlights.set("hits", new Highlight(...drawn.flatMap(rangesIn)));
  };

  page.LISTED = LISTED;
})();
