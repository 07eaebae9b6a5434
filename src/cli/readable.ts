/** Sizes and counts as people read them. */

/** Bytes with three digits and a decimal unit: `999 B`, `12.3 kB`, `1.2 GB`. */
export function shortSize(bytes: number): string {
  const { digits, unit } = scaled(bytes, ["", "k", "M", "G", "T"]);
  return `${digits} ${unit}B`;
}

/** A count with three digits: `999`, `12.3k`, `1.2M`. */
export function countText(count: number): string {
  const { digits, unit } = scaled(count, ["", "k", "M", "G", "T"]);
  return `${digits}${unit}`;
}

function scaled(value: number, units: readonly string[]): { readonly digits: string; readonly unit: string } {
  let [rest, power] = [value, 0];
  // 999.5 would be written as 1000.
  while (rest >= (power === 0 ? 1000 : 999.5) && power < units.length - 1) {
    [rest, power] = [rest / 1000, power + 1];
  }
  const digits = power === 0 ? String(rest) : rest.toFixed(rest < 99.95 ? 1 : 0);
  return { digits, unit: units[power] ?? "" };
}
