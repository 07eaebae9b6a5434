/** Moments and systems by value: a recording of one machine at one time, and requests of another machine now. */
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { exchangeOf, sent, Served } from "./served.ts";

interface Place {
  readonly at: number;
  /** Offset of its clock from UTC, in minutes. */
  readonly offset: number;
  readonly zone: string;
  readonly os: string;
}

const MINUTE = 60_000;
const [STARTED, AT_MS] = ["2026-11-21T21:18:00.000+01:00", 10 * MINUTE + 1000];
const THEN: Place = {
  ...{ at: Date.parse(STARTED) + AT_MS, offset: 60, zone: "CET" },
  os: "FreeBSD 14.1-RELEASE-p3 amd64",
};
const NAME = { linux: "Linux", darwin: "Darwin", windows: "Windows_NT" }[Deno.build.os as string] ??
  "FreeBSD";
const nowThere = (): Place => ({
  ...{ at: Date.now(), offset: 330, zone: "IST" },
  os: `${NAME} ${Deno.osRelease()} ${Deno.build.arch}`,
});

const iso = ({ at }: Place) => new Date(at).toISOString();
/** A date whose fields in UTC are those of the local clock. */
const local = ({ at, offset }: Place) => new Date(at + offset * MINUTE);
const offsetOf = ({ offset }: Place, colon = ":") =>
  `+0${Math.floor(offset / 60)}${colon}${String(offset % 60).padStart(2, "0")}`;
const minute = (place: Place) => local(place).toISOString().slice(0, 16).replace("T", " ");
const second = (place: Place) => local(place).toISOString().slice(0, 19).replace("T", " ");
const later = (place: Place, minutes: number): Place => ({ ...place, at: place.at + minutes * MINUTE });
const systemOf = ({ os }: Place) => os.replace(/ \w+$/, "");
const platformOf = ({ os }: Place) => os.toLowerCase().replace(/^(\w+?)(?:_nt)? \S+ /, "$1-");

type Content = { readonly type: string; readonly text: string };
const user = (...texts: string[]) => ({
  role: "user",
  content: texts.map((text): Content => ({ type: "input_text", text })),
});
const context = (place: Place) => `You run on ${systemOf(place)}. The clock says ${iso(place)}.`;
const bodyOf = (place: Place, name: string, input: readonly unknown[]) => ({
  ...{ model: "gpt-5.6", instructions: `${context(place)} This is "${name}".` },
  input,
});
const toolOutput = (output: string) => [
  { type: "function_call", call_id: "c", name: "sh", arguments: "{}" },
  { type: "function_call_output", call_id: "c", output },
];

/** Texts with the moment or the system of a place, in the words of no client. */
const REWORDED: Readonly<Record<string, (place: Place) => string>> = {
  "ISO in UTC": iso,
  "ISO with an offset": (place) => `${second(place).replace(" ", "T")}${offsetOf(place)}`,
  "a long notation": (place) =>
    local(place).toLocaleString("en-US", { dateStyle: "full", timeStyle: "short", timeZone: "UTC" }),
  "moments of the whole run": (place) =>
    `${iso(later(place, place.at === THEN.at ? -10 : 0))} to ${iso(place)}`,
  "a system, and its platform beside": (place) => `${systemOf(place)} (${platformOf(place)})`,
  "two moments in one order, at another distance": (place) =>
    `${second(place)} and ${second({ ...place, at: place.at + (place.at === THEN.at ? 20_000 : 0) })}`,
};

const HOSTILE: Readonly<Record<string, (place: Place, isThen: boolean) => string>> = {
  "a log line from before the recording": (place, isThen) =>
    `${minute(later(place, isThen ? -33 : 0))} ERROR a`,
  "a later moment": (place, isThen) => `due ${minute(later(place, isThen ? 60 : 0))}`,
  "a moment after the present": (place, isThen) => `due ${minute(later(place, isThen ? 0 : 5))}`,
  "the time of another zone": (place, isThen) => `${second(place)}${isThen ? "+09:00" : offsetOf(place)}`,
  "two moments in the other order": (place, isThen) =>
    [0, isThen ? 20_000 : -20_000].map((more) => second({ ...place, at: place.at + more })).join(" to "),
  "a word after a moment": (place, isThen) => `${minute(place)} ${isThen ? "WARN" : "INFO"} a`,
  "the name of a system alone": ({ os }) => `Does it work on ${os.split(" ")[0]}?`,
  "another release": (place, isThen) => isThen ? `${systemOf(place)}.1` : systemOf(place),
};

/** Pairs in which a person asks about a moment or a system. */
const ASKED: Readonly<Record<string, (place: Place) => readonly unknown[]>> = {
  "a moment in the question": (place) => [user(`What happened at ${iso(place)}?`)],
  "a system in the question": (place) => [user(`Is ${systemOf(place)} safe?`)],
};

/** A request with the recorder's moment in what the client got from the recording. */
const carried = (place: Place): readonly unknown[] => [
  user(`It is ${minute(place)}`, "When?"),
  { role: "assistant", content: `At ${minute(THEN)}` },
  ...toolOutput(`wrote ${minute(THEN)}; ${iso(place)}`),
  user("Again"),
];

/** Inputs by their names: those that must replay, and those that stay other questions. */
function inputsOf(place: Place, isThen: boolean) {
  const replayed = {
    ...mapped(REWORDED, (textOf): readonly unknown[] => [user(textOf(place), "Hello")]),
    "a moment in a played answer": carried(place),
  };
  const hostile = mapped(HOSTILE, (textOf) => [user("Look"), ...toolOutput(textOf(place, isThen))]);
  return { replayed, hostile, asked: mapped(ASKED, (inputOf) => inputOf(place)) };
}

withHome(
  "a moment of the run and a system with its release are replaced by value, others count",
  async (home) => {
    const { replayed, hostile, asked } = inputsOf(THEN, true);
    const recorded = { ...replayed, ...hostile, ...asked };
    home.fixture(
      "fixture",
      Object.entries(recorded).map(([name, input]) => {
        const { request, ...rest } = exchangeOf(sent(bodyOf(THEN, name, input), { answer: { name } }));
        return { ...rest, request: { ...request, at_ms: AT_MS } };
      }),
      { match: { normalize: ["os", "time"] }, context: { os: THEN.os, time: STARTED } },
    );
    const options = { cwd: home.directory, flags: ["--rules", "none"], env: { TZ: "Asia/Kolkata" } };
    await using server = await Served.start(home, ["fixture"], options);
    const outcomes = async (inputs: Readonly<Record<string, readonly unknown[]>>) => {
      const missed = [];
      for (const [name, input] of Object.entries(inputs)) {
        const { text } = await server.ask(bodyOf(nowThere(), name, input));
        if (text !== JSON.stringify({ name })) missed.push(name);
      }
      return missed;
    };
    const now = inputsOf(nowThere(), false);
    assert.deepEqual(await outcomes(now.replayed), []);
    assert.deepEqual(
      await outcomes({ ...now.hostile, ...now.asked }),
      Object.keys({ ...hostile, ...asked }),
    );
    // The same text replays now, unless it held the time of the recording, which no played answer brought back.
    const held = [
      ...["a moment after the present", "two moments in the other order", "a word after a moment"],
    ];
    assert.deepEqual(await outcomes(hostile), held);
  },
  test.long,
);

function mapped<A, B>(rows: Readonly<Record<string, A>>, change: (row: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, change(row)]));
}
