/**
 * Opens a page in Chromium and acts on it, in a process of Node's own: playwright-core is written for it.
 *
 * Usage: `node page_driver.mjs MODULES CHROMIUM PLAN`; the plan is JSON: `file`, `hash`, `dark`, `width`, `height`
 * and `steps`, each `{"press": KEY}`, `{"type": TEXT}`, `{"hash": "#…"}`, `{"see": EXPRESSION}`, whose value
 * goes into `seen`, `{"wait": EXPRESSION}` or `{"picture": PATH}`. Prints `seen`, `problems` (messages of the console and errors),
 * `requests` (addresses) and `first_view_ms`.
 *
 * @module
 */
import process from "node:process";
import { pathToFileURL } from "node:url";

const [modules, executablePath, planText] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${modules}/playwright-core/index.mjs`).href);
const plan = JSON.parse(planText);
// Root cannot use the sandbox of Chromium in a container.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage({
    colorScheme: plan.dark ? "dark" : "light",
    viewport: { width: plan.width ?? 1280, height: plan.height ?? 900 },
  });
  const problems = [];
  const requests = [];
  const seen = [];
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  page.on("request", (request) => requests.push(request.url()));
  const isIdle = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const begun = performance.now();
  await page.goto(`${pathToFileURL(plan.file).href}${plan.hash ?? ""}`);
  await isIdle();
  const first_view_ms = performance.now() - begun;
  for (const step of plan.steps ?? []) {
    if (step.press !== undefined) await page.keyboard.press(step.press);
    if (step.type !== undefined) await page.keyboard.type(step.type);
    if (step.hash !== undefined) await page.evaluate((hash) => void (location.hash = hash), step.hash);
    if (step.wait !== undefined) await page.waitForFunction(step.wait, undefined, { timeout: 20_000 });
    if (step.see !== undefined) seen.push(await page.evaluate(step.see));
    await isIdle();
    await isIdle();
    if (step.picture !== undefined) {
      await page.screenshot({ path: step.picture, fullPage: step.whole === true });
    }
  }
  process.stdout.write(JSON.stringify({ seen, problems, requests, first_view_ms }));
} finally {
  await browser.close();
}
