"use strict";

(() => {
  const { element } = page;

  /** Lines of a change: each begins with its sign. */
  function diff(text) {
    const classes = { "+": "added", "-": "removed", "@": "place" };
    return element(
      "pre",
      { className: "diff", dir: "auto" },
      ...text.split("\n").map((line) =>
        element("span", { className: classes[line[0]] ?? "same" }, `${line}\n`)
      ),
    );
  }

  function badge(text, tone = "plain") {
    return element("span", { className: `badge ${tone}` }, text);
  }

  function args(text) {
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      return page.folded(text, page.plain);
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return page.folded(text, page.plain);
    }
    const rows = Object.entries(value).filter(([, member]) => member !== null).map(([name, member]) => {
      const shown = typeof member === "string" ? member : JSON.stringify(member, null, 2);
      return element("tr", {}, element("th", {}, name), element("td", {}, page.folded(shown, page.plain)));
    });
    return element("table", { className: "args" }, element("tbody", {}, ...rows));
  }

  function result(found) {
    if (found === null) return element("div", { className: "result" }, badge("no result", "bad"));
    const box = element(
      "div",
      { className: "result" },
      badge(found.status || "result", found.tone),
      found.took === null ? null : element("small", {}, ` within ${page.duration(found.took)}`),
      page.folded(found.text, page.plain),
      found.whole === null ? null : element("small", {}, `whole output: ${found.whole}`),
    );
    if (found.seq !== null) box.id = `seq-${found.seq}`;
    return box;
  }

  function fate({ turns: [first, last], dropped }) {
    // Such as "turn 12", or "exchange 12" of a fixture.
    const noun = page.data.entries[0].name.split(" ")[0].toLowerCase();
    const requests = first === last
      ? `the request of ${noun} ${first}`
      : `the requests of ${noun}s ${first} to ${last}`;
    return element(
      "li",
      {},
      dropped === null ? badge("sent", "good") : badge("dropped", "bad"),
      dropped === null ? ` in ${requests}` : ` from ${requests}: ${dropped.replaceAll("_", " ")}`,
    );
  }

  function reasoning({ summary, blob }) {
    const opaque = blob.sha256 === null
      ? "without an opaque part"
      : `opaque part of ${page.count(blob.length)} characters, sha256 ${blob.sha256}…`;
    return element(
      "div",
      { className: "reasoning" },
      element("div", { className: "who" }, "reasoning"),
      summary === null ? null : page.rich(summary),
      element("small", {}, opaque),
      blob.fate.length === 0
        ? element("small", {}, ", in no later request")
        : element("ul", { className: "fate" }, ...blob.fate.map(fate)),
    );
  }

  function call(block) {
    const { tool, path, decision } = block;
    const title = element(
      "div",
      { className: "who" },
      "call ",
      element("b", {}, tool),
      path === null ? "" : ` ${path}`,
    );
    const left = element(
      "div",
      { className: "called" },
      title,
      decision === null ? null : badge(decision.text, decision.tone),
      block.diff === null ? args(block.args) : page.folded(block.diff, diff),
    );
    return element("div", { className: "call" }, left, result(block.result));
  }

  function usage({ request }) {
    const { input, cached, output, reasoning, cost, prefix } = page.data.requests[request];
    const share = input === 0 ? 0 : Math.round(100 * cached / input);
    if (input + output === 0) {
      return element(
        "div",
        { className: "usage" },
        element("small", {}, "no token counts"),
        miss(prefix, cached, input),
      );
    }
    const text = `${page.count(input)} tokens in (${page.count(cached)} cached, ${share} %), ` +
      `${page.count(output)} out (${page.count(reasoning)} reasoning), cost ${page.cost(cost)}`;
    return element("div", { className: "usage" }, element("small", {}, text), miss(prefix, cached, input));
  }

  /** The place at which a request leaves the one before, so that a prompt cache serves only what is before it. */
  function miss(prefix, cached, input) {
    if (prefix === null || prefix.extends && (cached > 0 || input === 0)) return null;
    if (prefix.extends) {
      return badge("no tokens from the prompt cache, although the request extends the one before");
    }
    const item = prefix.item === null ? "before its input" : `in item ${prefix.item} of its input`;
    return badge(`prompt cache missed: first differing byte ${page.count(prefix.byte)}, ${item}`, "bad");
  }

  function events({ rows }) {
    const line = (tag, cells) =>
      element("tr", {}, ...cells.map((cell) => element(tag, { dir: "auto" }, cell)));
    const [head, ...rest] = rows;
    const table = element("table", {}, element("thead", {}, line("th", head)));
    const body = element("tbody", {}, ...rest.slice(0, 200).map((cells) => line("td", cells)));
    table.append(body);
    const details = element(
      "details",
      {},
      element("summary", {}, `${rest.length} events of the answer`),
      table,
    );
    if (rest.length > 200) {
      const more = element(
        "button",
        { type: "button", className: "unfold" },
        `show all ${rest.length} events`,
      );
      more.addEventListener("click", () => {
        body.append(...rest.slice(200).map((cells) => line("td", cells)));
        more.remove();
      });
      details.append(more);
    }
    return details;
  }

  function note({ text, tone, to }) {
    const line = element("p", { className: `note ${tone}` }, text);
    if (to !== undefined) line.append(" ", element("a", { href: `#${to}` }, "show"));
    return line;
  }

  const DRAWN = {
    message: ({ who, body }) =>
      element(
        "div",
        { className: `message ${who.split(" ")[0]}` },
        element("div", { className: "who" }, who),
        page.rich(body),
      ),
    reasoning,
    call,
    result: (block) =>
      element(
        "div",
        { className: "call" },
        element("div", { className: "who" }, `result of ${block.tool}`),
        result(block.result),
      ),
    checkpoint: ({ about, body, details }) =>
      element(
        "div",
        { className: "checkpoint" },
        element("div", { className: "who" }, about),
        element("details", {}, element("summary", {}, "its text"), page.rich(body), page.plain(details)),
      ),
    fork: ({ about, body }) =>
      element(
        "div",
        { className: "fork" },
        element("div", { className: "who" }, about),
        body === null ? null : page.rich(body),
      ),
    note,
    usage,
    image: ({ name, src }) => element("img", { src, alt: name }),
    events,
    raw: ({ name, text }) =>
      element("details", { className: "raw" }, element("summary", {}, name), page.folded(text, page.plain)),
  };

  /** Draws one block. */
  page.block = (block) => {
    const drawn = DRAWN[block.type](block);
    if (block.seq !== undefined && drawn.id === "") drawn.id = `seq-${block.seq}`;
    return drawn;
  };
})();
