/** Random JSON texts that JavaScript cannot hold: numbers that it would spell otherwise, members that it would move. */
import * as fc from "fast-check";

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength });

/** The text of a number, in every spelling that JSON has. */
const number = fc.oneof(
  fc.constantFrom("0", "-0", "-0.0", "1.0", "0.10", "1e5", "1E+05", "-2.50e-7", "1e400", "9007199254740993"),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.tuple(fc.constantFrom("", "-"), fc.integer({ min: 1, max: 9 }), digits(15, 40))
    .map(([sign, first, rest]) => `${sign}${first}${rest}`),
  fc.tuple(fc.integer(), digits(1, 25)).map(([whole, fraction]) => `${whole}.${fraction}`),
);

/** Texts inside strings that look like what is rare outside of them. */
const string = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('{"1":1.0}', ',"2":', "\\", '\\"', "3.0", '"', "1", "-0"),
).map((text) => JSON.stringify(text));

const name = fc.oneof(
  fc.nat({ max: 12 }).map(String),
  fc.constantFrom("4294967294", "4294967295", "9007199254740993", "01", "-1", "1.0", "__proto__", "a", "b"),
  fc.string({ unit: "binary", maxLength: 4 }),
);

/** The text of any value, without white space between its parts. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    string,
    fc.constantFrom("null", "true", "false"),
    fc.array(tie("value"), { maxLength: 5 }).map((items) => `[${items.join(",")}]`),
    fc.uniqueArray(fc.tuple(name, tie("value")), { maxLength: 6, selector: ([key]) => key })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`),
  ),
})).value;

/** A JSON text with white space around its parts, for readers that must not depend on it. */
export function spaced(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (part) => part.startsWith('"') ? part : ` \n${part}\t`);
}
