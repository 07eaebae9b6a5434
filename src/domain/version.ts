/** The version of this program; `deno.json` says the same, and a test holds them equal. */
export const VERSION = "0.1.0";
