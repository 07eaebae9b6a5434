/** Markdown as a reader of GitHub's dialect sees it. */
import assert from "node:assert/strict";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";

/** The page that GitHub's dialect makes of Markdown, with all HTML in it. */
export function pageOf(markdown: string): string {
  return micromark(markdown, {
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
}

/** Elements that show text and do nothing else. */
const HARMLESS =
  /^\/?(?:p|blockquote|pre|code|em|strong|del|h[1-6]|ul|ol|li|hr|br|table|thead|tbody|tr|th|td|a|details|summary|input)$/;

/** Fails if a page holds more than text: markup of its content, an image, a link that hides its target, a mention. */
export function assertInert(markdown: string, what: string): void {
  const page = pageOf(markdown);
  for (const [tag, name = ""] of page.matchAll(/<(\/?[^\s>]*)[^>]*>/g)) {
    assert.match(name, HARMLESS, `${tag} in ${page}\n of ${what}`);
    if (name === "details") assert.match(tag, /^<details(?: open(?:="")?)?>$/);
    if (name === "input") assert.match(tag, /^<input type="checkbox" disabled=""(?: checked="")?>$/);
  }
  for (const [, target = "", text = ""] of page.matchAll(/<a href="([^"]*)">([\s\S]*?)<\/a>/g)) {
    assert.match(target, /^(?:https?:|mailto:)/);
    const read = (written: string) =>
      decodeURI(written.replace(/%(?![0-9a-f]{2})/gi, "%25")).replaceAll("&gt;", ">");
    assert.ok(read(target).endsWith(read(text)), `${target} is shown as ${text}: ${what}`);
  }
  const text = page.replace(/<(pre|code)[\s>][\s\S]*?<\/\1>/g, "<>").replace(/<[^>]*>/g, "\0");
  assert.doesNotMatch(text, /@[\w]|#\d|\bGH-\d|(?:issues|pull)\/\d/i, `a reference in ${text}\n of ${what}`);
  // deno-lint-ignore no-control-regex -- the parts of the page are joined by NUL
  assert.doesNotMatch(markdown, /[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/, what);
}
