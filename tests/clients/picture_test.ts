/** The picture of the README in headless Chromium. */
import assert from "node:assert/strict";
import { PICTURE } from "../../scripts/terminal_picture.ts";
import { browse, CHROMIUM, NO_CHROMIUM } from "./pages.ts";

const FILE = new URL(`../../${PICTURE}`, import.meta.url).pathname;
const PICTURES = Deno.env.get("REPRISE_PAGE_PICTURES");

/** Number of rows, rows that leave the window, and colours of the window and of a row. */
const LOOK = `(() => {
  const { width, height } = document.documentElement.viewBox.baseVal;
  const rows = [...document.querySelectorAll("text")];
  const isOutside = ({ x, y, width: w, height: h }) => x < 0 || y < 0 || x + w > width || y + h > height;
  return {
    rows: rows.length,
    outside: rows.filter((row) => isOutside(row.getBBox())).map((row) => row.textContent),
    colours: [document.querySelector(".window"), rows[0]].map((part) => getComputedStyle(part).fill),
  };
})()`;

/** The text that a reader selects with the mouse. */
const SELECTED = `(() => {
  getSelection().selectAllChildren(document.querySelector("text"));
  return getSelection().toString();
})()`;

for (const dark of [false, true]) {
  const scheme = dark ? "dark" : "light";
  Deno.test({
    name:
      `the README's picture draws every row within its window, in ${scheme} colours, as text to select, and loads nothing from elsewhere${NO_CHROMIUM}`,
    ignore: CHROMIUM === null,
    async fn() {
      const picture = PICTURES === undefined ? [] : [{ picture: `${PICTURES}/terminal-${scheme}.png` }];
      const page = await browse({
        file: FILE,
        dark,
        width: 860,
        height: 560,
        steps: [{ see: LOOK }, { see: SELECTED }, ...picture],
      });
      assert.deepEqual(page.problems, []);
      assert.equal(page.requests.length, 1);
      const [look, selected] = page.seen;
      assert.ok(look.rows >= 15, String(look.rows));
      assert.deepEqual(look.outside, []);
      assert.deepEqual(
        look.colours,
        dark ? ["rgb(13, 17, 23)", "rgb(230, 237, 243)"] : ["rgb(255, 255, 255)", "rgb(31, 35, 40)"],
      );
      assert.equal(selected, "$ reprise record --out fixtures/chat -- pytest");
    },
  });
}
