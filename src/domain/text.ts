/** The longest prefix of `text` of at most `length` UTF-16 units that does not split a character. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = isHalf(text, length - 1, 0xd800) ? length - 1 : length;
  return text.slice(0, Math.max(0, cut));
}

/** The text; if it has more than `length` UTF-16 units, only its head of that length, and an ellipsis. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${headOf(text, length).toWellFormed()}…`;
}

/** The longest suffix of `text` of at most `length` UTF-16 units that does not split a character. */
export function tailOf(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length <= 0) return "";
  const start = text.length - length;
  return text.slice(isHalf(text, start, 0xdc00) ? start + 1 : start);
}

/** True for a first half (0xd800) or second half (0xdc00) of a character. */
function isHalf(text: string, index: number, half: 0xd800 | 0xdc00): boolean {
  return (text.charCodeAt(index) & 0xfc00) === half;
}

/** Formats a count with a noun whose plural ends in s: `1 exchange`, `3 exchanges`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a size: `120 bytes`, `3.4 kB`, `2.1 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, "byte");
  return bytes < 999_950 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Writes a word so that a shell reads it unchanged, in quotes if it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+,./:=-]+$/.test(word) ? word : quotedWord(word);
}

/** Writes a word in the quotes of a shell. */
export function quotedWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Formats a number of repetitions: `once`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** Returns a path without its trailing slashes; the root stays `/`. */
export function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/+$/, "");
}

/** The words of a list that is written as text, with white space between them. */
export function words(list: string): string[] {
  return list.trim().split(/\s+/);
}
