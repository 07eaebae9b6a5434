/** Joiners that emoji and scripts need; invisible, but harmless. */
const ZWNJ = 0x200c;
const ZWJ = 0x200d;

/**
 * Text made safe for a terminal: control characters, escapes, bidi overrides and invisible marks become
 * visible. One pass over the characters, so its time is linear. Newline and tab stay.
 */
export function visibleText(text: string): string {
  let plainFrom = 0;
  let result = "";
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (isHarmless(unit)) continue;
    result += text.slice(plainFrom, index) + visible(unit);
    plainFrom = index + 1;
  }
  return plainFrom === 0 ? text : result + text.slice(plainFrom);
}

function isHarmless(unit: number): boolean {
  if (unit < 0x20) return unit === 0x0a || unit === 0x09;
  if (unit < 0x7f) return true;
  if (unit <= 0x9f || unit === 0xad) return false;
  if (unit < 0x061c) return true;
  return !isInvisible(unit);
}

/** Bidi controls, zero-width marks, line and paragraph separators, annotation marks. */
function isInvisible(unit: number): boolean {
  return unit === 0x061c || unit === 0x180e || unit === 0xfeff ||
    (unit >= 0x200b && unit <= 0x200f && unit !== ZWJ && unit !== ZWNJ) ||
    (unit >= 0x2028 && unit <= 0x202e) ||
    (unit >= 0x2060 && unit <= 0x206f) ||
    (unit >= 0xfff9 && unit <= 0xfffb);
}

function visible(unit: number): string {
  if (unit < 0x20) return String.fromCharCode(0x2400 + unit);
  if (unit === 0x7f) return "\u2421";
  return `\\u{${unit.toString(16)}}`;
}

/** ANSI styles by name; all empty where colour is off. */
export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
}

/** Styles for a stream: escapes only when `colour` is on. */
export function styleFor(colour: boolean): Style {
  const wrap = (code: number) => (text: string) =>
    colour && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  return { dim: wrap(2), bold: wrap(1), red: wrap(31) };
}
