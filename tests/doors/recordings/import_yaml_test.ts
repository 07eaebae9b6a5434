/** `fixture import` of YAML that the specification refuses, and that the recorders themselves read. */
import assert from "node:assert/strict";
import { Dice } from "../../support/dice.ts";
import { withHome } from "./home.ts";
import { BASE, imported, refused } from "./importing.ts";

/** A cassette with these lines as bodies. */
const withBodies = (request: string, response: string) =>
  `# It's a comment with "quotes
interactions:
  - request:
      body: ${request}
      headers: {content-type: [application/json], "a 'b": ['it''s', "\\"x"]} # 'open
      method: POST
      uri: ${BASE}/responses
      note: it's plain, "also this
    response:
      body:
        string: ${response}
      headers:
        x-note: |
          a block's text with "quotes
            and 'more
        content-type: [application/json]
      status: {code: 200, message: OK}
version: 1
`;

/** Bodies as YAML, and as text. */
const BODIES: Readonly<Record<string, readonly [yaml: string, text: string]>> = {
  "single quotes": [`'{"a": "one\n two"}'`, '{"a": "one two"}'],
  "single quotes at the margin": [`'{"a": "it''s\none"}'`, `{"a": "it's one"}`],
  "double quotes": ['"{\\"a\\": \\"one\n\\\\ttwo\\"}"', '{"a": "one \\ttwo"}'],
  "a line that continues without a space": ['"{\\"a\\": \\"on\\\n   e\\"}"', '{"a": "one"}'],
  "an empty line": [`'{"a": 1,\n\n"b": 2}'`, '{"a": 1,\n"b": 2}'],
  "what looks like a key": [`'{"a":\nversion: 2\n- "b"}'`, '{"a": version: 2 - "b"}'],
  "a quote that is followed by a comment": [`'{"a":\n1}' # it's`, '{"a": 1}'],
};

for (const [name, [yaml, text]] of Object.entries(BODIES)) {
  withHome(`a quoted body is read however its lines are indented: ${name}`, async (home) => {
    const { exchanges: [exchange] } = await imported(home, withBodies(yaml, yaml));
    assert.deepEqual([exchange?.sent, exchange?.text], [text, text]);
  });
}

withHome("any indentation of quoted lines gives the same bodies", async (home) => {
  const dice = new Dice(7);
  for (let turn = 0; turn < 20; turn++) {
    const words = Array.from({ length: 12 }, (_, index) => `w${index}`);
    const lines = words.map((word) => `${" ".repeat(dice.count(0, 13))}${word}`);
    const yaml = `'${words[0]}\n${lines.slice(1).join("\n")}'`;
    const { exchanges: [exchange] } = await imported(home, withBodies(yaml, yaml));
    assert.deepEqual([exchange?.sent, exchange?.text], [words.join(" "), words.join(" ")], yaml);
  }
});

withHome("a quote without its end is refused at its own place", async (home) => {
  await refused(home, withBodies("'{\n}", "'{}'"), /it is neither JSON nor YAML: .* at line 4, /);
});
