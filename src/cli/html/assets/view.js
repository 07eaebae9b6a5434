"use strict";

(() => {
  const { data, element } = page;
  const articles = [];
  let place = -1;
  const HELD_FRAMES = 10;
  /** The newest target of a link. */
  let held = null;

  /** Draws the content of an entry once. */
  function fill(index) {
    const article = articles[index];
    if (article.classList.contains("drawn")) return article;
    const { id, name, kind, about, at, took, tone, blocks } = data.entries[index];
    article.classList.add("drawn");
    article.append(
      element(
        "header",
        {},
        element("a", { href: `#${id}`, className: "name" }, name),
        element("span", { className: `badge ${tone}` }, kind),
        element("span", {}, about),
        at === null ? null : page.time(at),
        took === null ? null : element("small", {}, page.duration(took)),
      ),
      ...blocks.map(page.block),
    );
    if (find.value !== "") page.highlight();
    return article;
  }

  for (const input of ["wheel", "touchmove", "pointerdown"]) {
    addEventListener(input, () => held = null, { passive: true });
  }

  const observer = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      fill(articles.indexOf(target));
    }
  }, { rootMargin: "600px" });

  /** Scrolls to a target for some frames: what comes into view on the way is drawn now, and may move it. */
  function hold(target, frames) {
    target.scrollIntoView({ block: "start" });
    if (frames > 0) requestAnimationFrame(() => target === held && hold(target, frames - 1));
  }

  page.hold = (target) => {
    held = target;
    hold(target, HELD_FRAMES);
  };

  /** Draws an entry, makes it the current one and scrolls to it. */
  page.go = (index, id = null) => {
    if (articles[index] === undefined) return null;
    articles[place]?.classList.remove("current");
    place = index;
    const article = fill(index);
    article.classList.add("current");
    const target = (id === null ? null : document.getElementById(id)) ?? article;
    page.hold(target);
    article.focus({ preventScroll: true });
    return article;
  };

  /** Follows a link: to an entry, or to an event in one. */
  function follow() {
    const id = location.hash.slice(1);
    if (id === "") return;
    const seq = /^seq-(\d+)$/.exec(id);
    const index = seq === null ? data.entries.findIndex((entry) => entry.id === id) : entryOf(Number(seq[1]));
    if (index >= 0) page.go(index, id);
  }

  /** The entry that shows an event; a result is shown in the entry of its call. */
  function entryOf(seq) {
    const shows = ({ blocks }) => blocks.some((block) => block.seq === seq || block.result?.seq === seq);
    const index = data.entries.findIndex(shows);
    return index >= 0
      ? index
      : data.entries.findIndex((entry) => entry.seq !== null && entry.seq[0] <= seq && seq <= entry.seq[1]);
  }

  function groupLink({ name, state, tone, first, about }) {
    return element(
      "li",
      {},
      element(
        "a",
        { href: `#${data.entries[first]?.id ?? ""}` },
        element("b", {}, name),
        " ",
        element("span", { className: `badge ${tone}` }, state),
        element("span", { className: "about", dir: "auto" }, about),
      ),
    );
  }

  const find = element("input", { type: "search", id: "find", placeholder: "Search (press /)" });
  find.setAttribute("aria-label", "Search");
  const found = element("output", { id: "found" });
  const groups = element("ol", { className: "groups" }, ...data.groups.map(groupLink));
  const list = element("ol", { className: "hits", hidden: true });

  /** Lists the hits of the search in place of the groups. */
  page.showHits = (hits, current) => {
    const searching = find.value !== "";
    groups.hidden = searching;
    list.hidden = !searching;
    found.value = !searching
      ? ""
      : hits.length === 0
      ? "no hit"
      : `${current < 0 ? "" : `${current + 1} of `}${hits.length}`;
    list.replaceChildren(
      ...hits.slice(0, page.LISTED).map(({ index, head, found: text, tail }, number) => {
        const button = element(
          "button",
          { type: "button", className: number === current ? "current" : "" },
          element("b", {}, data.entries[index].name),
          element("span", { className: "about", dir: "auto" }, head, element("mark", {}, text), tail),
        );
        button.addEventListener("click", () => page.goToHit(number));
        return element("li", {}, button);
      }),
    );
    if (current >= 0) list.children[current]?.scrollIntoView({ block: "nearest" });
  };

  let waiting = 0;
  const searchNow = () => {
    clearTimeout(waiting);
    page.showHits(page.search(find.value), -1);
  };
  find.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(searchNow, 120);
  });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      find.value = "";
      searchNow();
      find.blur();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (page.searched !== find.value) searchNow();
    page.searched = find.value;
    page.nextHit(event.shiftKey ? -1 : 1);
    find.focus({ preventScroll: true });
  });

  function changeTheme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme === "dark" ||
      root.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  }

  const groupAt = (index) => data.entries[index]?.group ?? -1;
  const KEYS = {
    "/": ["search", () => find.focus()],
    "n": ["next hit", () => page.nextHit(1)],
    "N": ["hit before", () => page.nextHit(-1)],
    "j": ["next entry", () => page.go(Math.min(place + 1, articles.length - 1))],
    "k": ["entry before", () => page.go(Math.max(place - 1, 0))],
    "]": ["next group", () => page.go(data.groups[groupAt(place) + 1]?.first)],
    "[": ["group before", () => page.go(data.groups[groupAt(place) - 1]?.first)],
    "g": ["first entry", () => page.go(0)],
    "G": ["last entry", () => page.go(articles.length - 1)],
    "e": ["unfold the entry", () => unfold(articles[place])],
    "t": ["light or dark", changeTheme],
    "?": ["these keys", () => help.open ? help.close() : help.showModal()],
  };

  function unfold(article) {
    for (const button of article?.querySelectorAll(".unfold") ?? []) button.click();
    for (const details of article?.querySelectorAll("details") ?? []) details.open = true;
  }

  const help = element(
    "dialog",
    {},
    element(
      "table",
      {},
      ...Object.entries(KEYS).map(([key, [text]]) =>
        element("tr", {}, element("th", {}, element("kbd", {}, key)), element("td", {}, text))
      ),
    ),
  );
  help.addEventListener("click", () => help.close());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === find) return;
    const [, act] = KEYS[event.key] ?? [];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });

  const button = (text, title, act) => {
    const made = element("button", { type: "button", title, textContent: text });
    made.addEventListener("click", act);
    return made;
  };

  function timeline() {
    const parts = [];
    for (const [index, entry] of data.entries.entries()) {
      const group = data.groups[entry.group];
      if (group?.first === index) {
        parts.push(
          element(
            "h2",
            {},
            group.name,
            " ",
            element("span", { className: `badge ${group.tone}` }, group.state),
          ),
        );
      }
      const article = element("article", { id: entry.id, tabIndex: -1, className: entry.tone });
      articles.push(article);
      parts.push(article);
    }
    return parts;
  }

  const facts = element(
    "dl",
    {},
    ...data.facts.flatMap(({ name, text, at }) => [
      element("dt", {}, name),
      element("dd", { dir: "auto" }, at === undefined ? text : page.time(at)),
    ]),
  );
  document.body.append(
    element(
      "header",
      { className: "top" },
      element("h1", { dir: "auto" }, data.title),
      element(
        "span",
        { className: "tools" },
        find,
        found,
        button("◐", "Light or dark", changeTheme),
        button("?", "Keys", KEYS["?"][1]),
      ),
    ),
    element("nav", {}, groups, list),
    element(
      "main",
      {},
      ...data.warnings.map((text) => element("p", { className: "note bad" }, text)),
      facts,
      page.charts(),
      ...timeline(),
    ),
    help,
  );
  for (const article of articles) observer.observe(article);
  addEventListener("hashchange", follow);
  follow();
})();
