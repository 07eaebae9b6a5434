"use strict";

(() => {
  const { element, shape } = page;
  const BARS = 200;
  /** Few requests do not fill the width. */
  const FEWEST = 24;
  const WIDTH = 800;
  const HEIGHT = 90;

  /** Neighbouring requests together, at most BARS of them. */
  function bins(requests) {
    const size = Math.max(1, Math.ceil(requests.length / BARS));
    return Array.from({ length: Math.ceil(requests.length / size) }, (_, index) => {
      const part = requests.slice(index * size, (index + 1) * size);
      const sum = (name) => part.reduce((total, each) => total + each[name], 0);
      const priced = part.filter(({ cost }) => cost !== null);
      return {
        first: part[0],
        count: part.length,
        input: sum("input"),
        cached: sum("cached"),
        output: sum("output"),
        reasoning: sum("reasoning"),
        cost: priced.length === 0 ? null : priced.reduce((total, each) => total + each.cost, 0),
        missed: part.filter(({ prefix }) => prefix?.extends === false).length,
      };
    });
  }

  function titleOf(bin) {
    const name = page.data.entries[bin.first.entry].name;
    return bin.count === 1 ? name : `${name} and ${bin.count - 1} more requests`;
  }

  /** Bars of stacked parts: `parts` gives pairs of a class and a value, bottom first. */
  function chart(name, all, { parts, top, text }) {
    const width = WIDTH / Math.max(all.length, FEWEST);
    const gap = Math.min(2, width / 5);
    const bars = all.map((bin, index) => {
      let y = HEIGHT;
      const link = shape("a", { href: `#${page.data.entries[bin.first.entry].id}` });
      link.append(shape("title", {}, `${titleOf(bin)}: ${text(bin)}`));
      link.append(shape("rect", { class: "back", x: index * width, y: 0, width, height: HEIGHT }));
      for (const [kind, value] of parts(bin)) {
        const height = top === 0 ? 0 : HEIGHT * value / top;
        y -= height;
        link.append(
          shape("rect", { class: kind, x: index * width + gap / 2, y, width: width - gap, height }),
        );
      }
      if (bin.missed > 0) {
        link.append(
          shape("rect", {
            class: "missed",
            x: index * width,
            y: HEIGHT + 2,
            width: Math.max(width - gap, 2),
            height: 4,
          }),
        );
      }
      return link;
    });
    const svg = shape("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT + 8}`,
      preserveAspectRatio: "none",
      role: "img",
    }, ...bars);
    svg.setAttribute("aria-label", name);
    return element("figure", {}, element("figcaption", {}, name), svg);
  }

  /** Draws tokens, cache hits and cost by request; `null` without requests. */
  page.charts = () => {
    const { requests } = page.data;
    if (requests.length === 0) return null;
    const all = bins(requests);
    const total = (name) => page.count(requests.reduce((sum, each) => sum + each[name], 0));
    const most = (value) => Math.max(...all.map(value));
    const charts = [
      chart("Tokens by request", all, {
        top: most(({ input, output }) => input + output),
        parts: ({ input, cached, output, reasoning }) => [
          ["cached", Math.min(cached, input)],
          ["input", Math.max(0, input - cached)],
          ["reasoned", Math.min(reasoning, output)],
          ["output", Math.max(0, output - reasoning)],
        ],
        text: ({ input, cached, output, reasoning }) =>
          `${page.count(input)} in, ${page.count(cached)} cached, ${page.count(output)} out, ${
            page.count(reasoning)
          } reasoning`,
      }),
      chart("Share of the input from the prompt cache", all, {
        top: 1,
        parts: ({ input, cached }) => [["cached", input === 0 ? 0 : Math.min(1, cached / input)]],
        text: ({ input, cached, missed }) =>
          `${input === 0 ? 0 : Math.round(100 * cached / input)} %${
            missed > 0 ? ", prompt cache missed" : ""
          }`,
      }),
    ];
    const priced = requests.filter(({ cost }) => cost !== null);
    const sum = priced.reduce((dollars, each) => dollars + each.cost, 0);
    if (priced.length > 0) {
      charts.push(chart("Cost by request", all, {
        top: most(({ cost }) => cost ?? 0),
        parts: ({ cost }) => [["cost", cost ?? 0]],
        text: ({ cost }) => page.cost(cost),
      }));
    }
    const legend = [
      ["cached", `cached ${total("cached")}`],
      ["input", `input in all ${total("input")}`],
      ["reasoned", `reasoning ${total("reasoning")}`],
      ["output", `output in all ${total("output")}`],
      ["missed", `prompt cache missed ${requests.filter(({ prefix }) => prefix?.extends === false).length}`],
      [
        "cost",
        priced.length === 0
          ? "cost unknown"
          : `cost ${page.cost(sum)}${priced.length < requests.length ? " and more" : ""}`,
      ],
    ].map(([kind, text]) => element("li", { className: kind }, text));
    return element(
      "details",
      { className: "charts", open: true },
      element("summary", {}, `${page.count(requests.length)} requests`),
      element("ul", { className: "legend" }, ...legend),
      ...charts,
    );
  };
})();
