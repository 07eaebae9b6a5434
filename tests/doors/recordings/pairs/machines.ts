/** The two machines of a pair of requests: the recorder's and the client's that asks again. They differ in everything. */

/** Values of one machine. */
export interface Machine {
  readonly cwd: string;
  readonly home: string;
  readonly tmp: string;
  readonly user: string;
  readonly host: string;
  readonly zone: string;
  readonly os: string;
  readonly shell: string;
  /** Session of the client that runs there. */
  readonly session: string;
  /** The time, in ISO 8601. */
  readonly now: string;
  /** Repository in the working directory: its branch, the subject of its only commit, and a new file. @default {none} */
  readonly git?: readonly [branch: string, subject: string, file: string];
}

/** Friday, 10:30 in Oslo. */
export const RECORDER: Machine = {
  ...{ cwd: "/srv/code/ledger", home: "/people/ines.gray", tmp: "/var/scratch/ines" },
  ...{ user: "ines.gray", host: "build-07", zone: "Europe/Oslo" },
  ...{ os: "Linux 6.1.0-18-amd64 x86_64", shell: "/bin/bash", now: "2026-11-20T09:30:00.000Z" },
  session: "5e0f9a3c-1d24-4b77-9c10-2f6a7b8c9d01",
};
/** Wednesday, forty days later, 21:15 in Kolkata. */
export const CLIENT: Machine = {
  ...{ cwd: "/opt/jobs/my tally", home: "/users/omar.quist", tmp: "/var/scratch/omar" },
  ...{ user: "omar.quist", host: "ci-run-23", zone: "Asia/Kolkata" },
  ...{ os: "Linux 6.12.9-arch1-1 x86_64", shell: "/usr/bin/zsh", now: "2026-12-30T15:45:00.000Z" },
  session: "a7c4e1d2-8b36-4f05-b9aa-6d3c2e1f0a52",
};

/** Days of the two machines, in the notations of {@linkcode fill}. */
const DAYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2026-11-20": {
    ...{ iso: "2026-11-20", us: "11/20/2026", de: "20.11.2026", uk: "20/11/2026", slashes: "2026/11/20" },
    ...{ long: "Friday, November 20, 2026", short: "Fri Nov 20 2026", none: "Fri Nov 20" },
    ...{ month: "November 20, 2026", british: "20 November 2026", mail: "Fri, 20 Nov 2026" },
  },
  "2026-12-30": {
    ...{ iso: "2026-12-30", us: "12/30/2026", de: "30.12.2026", uk: "30/12/2026", slashes: "2026/12/30" },
    ...{ long: "Wednesday, December 30, 2026", short: "Wed Dec 30 2026", none: "Wed Dec 30" },
    ...{ month: "December 30, 2026", british: "30 December 2026", mail: "Wed, 30 Dec 2026" },
  },
};

/** Values of a repository, by the names of {@linkcode fill}. */
export interface GitTexts {
  readonly log: string;
  readonly status: string;
}

/** The two machines as {@linkcode fill} needs them. */
export interface Machines {
  readonly recorder: Machine & Partial<GitTexts>;
  readonly client: Machine & Partial<GitTexts>;
}

/**
 * Fills a template for one side: `{cwd}` is a value of that side's machine, `{client.cwd}` that of the other one, `{day}`
 * its day in ISO 8601, `{day.long}` the same in words, `{cwd%}`, `{cwd%%}`, `{cwd-}` and `{cwd\}` the directory with the
 * escapes of a URL, of a parameter, with dashes, and as JSON in JSON.
 */
export function fill(template: string, side: keyof Machines, machines: Machines): string {
  return template.replace(
    /\{(?:(recorder|client)\.)?([a-z]+)(?:\.([a-z]+))?(%%|%|-|\\)?\}/g,
    (whole, named: keyof Machines | undefined, name: string, notation = "iso", escape = "") => {
      const machine = machines[named ?? side];
      if (name === "day") return DAYS[machine.now.slice(0, 10)]?.[notation] ?? whole;
      const value = name === "branch"
        ? machine.git?.[0]
        : Object.entries(machine).find(([key]) => key === name)?.[1];
      return typeof value !== "string" ? whole : escaped(value, escape);
    },
  );
}

function escaped(value: string, escape: string): string {
  switch (escape) {
    case "%":
      return encodeURI(value);
    case "%%":
      return encodeURIComponent(value);
    case "-":
      return value.replace(/[^A-Za-z0-9]/g, "-");
    case "\\":
      return value.replaceAll("/", "\\/");
    default:
      return value;
  }
}
