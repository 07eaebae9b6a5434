/**
 * Words that clients put before values of their machine, each before values that are no machine's: text of a person, a
 * tool or an application, in which another value is another question.
 */
import { type Pair, spread } from "./pair.ts";
import { APIS } from "./places.ts";

/** Text, and the same with another value. */
const LABELS: readonly (readonly [kind: string, recorded: string, received: string])[] = [
  ["cwd", "Working directory: /data/sales", "Working directory: /data/wages"],
  ["cwd", "Current working directory: /data/sales", "Current working directory: /etc"],
  ["cwd", " - Primary working directory: /data/sales", " - Primary working directory: /data/wages"],
  ["cwd", "cwd: `/data/sales`", "cwd: `/data/wages`"],
  ["cwd", "<cwd>/data/sales</cwd> Remove all?", "<cwd>/data/wages</cwd> Remove all?"],
  ["cwd", "<working_directory>/a/b</working_directory>", "<working_directory>/a/c</working_directory>"],
  [
    "cwd",
    "<current_working_directory>/a</current_working_directory>",
    "<current_working_directory>/b</current_working_directory>",
  ],
  [
    "user",
    "Username: alice\nReset the password of this user.",
    "Username: mallory\nReset the password of this user.",
  ],
  ["user", "User name: alice", "User name: bob"],
  ["user", "**Current user:** alice", "**Current user:** bob"],
  ["host", "Hostname: mail-1\nThe disk is full.", "Hostname: mail-2\nThe disk is full."],
  ["host", "* Host name: mail-1", "* Host name: mail-2"],
  ["host", "Computer name: ANNA-PC", "Computer name: BERT-PC"],
  ["os", "OS: Windows 11\nHow do I install Docker?", "OS: Ubuntu 24.04\nHow do I install Docker?"],
  ["os", "OS Version: macOS 15.2", "OS Version: macOS 26.1"],
  ["os", "Platform: android", "Platform: ios"],
  ["os", "Operating system: Windows Server 2025", "Operating system: Fedora 43"],
  ["os", "My operating system is: win32", "My operating system is: aix"],
  ["os", "Shell: fish\nHow do I set a variable?", "Shell: PowerShell\nHow do I set a variable?"],
  ["os", "**Default shell**: fish", "**Default shell**: tcsh"],
  ["os", "The user's current OS is: Windows 10", "The user's current OS is: Haiku"],
  ["os", "The user's default shell is: fish", "The user's default shell is: cmd.exe"],
  ["os", "<os>Windows 11</os> How do I update?", "<os>openSUSE</os> How do I update?"],
  ["os", "<platform>android</platform>", "<platform>ios</platform>"],
  ["os", "<operating_system>Haiku</operating_system>", "<operating_system>Plan 9</operating_system>"],
  ["os", "<shell>fish</shell>", "<shell>nushell</shell>"],
  ["os", "The user's OS version is Windows 10. Be brief.", "The user's OS version is Windows 7. Be brief."],
  ["os", "The user's shell is fish.", "The user's shell is ksh."],
  ["os", "You are running on **Windows**.", "You are running on **Solaris**."],
  ["date", "Today's date: 2026-01-05\nIs it a holiday?", "Today's date: 2026-01-06\nIs it a holiday?"],
  ["date", "Today's date is now: 5 January 2026", "Today's date is now: 6 January 2026"],
  ["date", "Current date: 2026-01-05", "Current date: 2026-07-05"],
  ["date", "Current datetime: 2026-01-05 08:00", "Current datetime: 2026-01-06 08:00"],
  ["date", "Current date and time: 1/5/2026, 8:00 AM", "Current date and time: 1/6/2026, 8:00 AM"],
  ["date", "Current date/time: 05.01.2026 08:00", "Current date/time: 06.01.2026 08:00"],
  ["date", "<current_date>2026-01-05</current_date> Next?", "<current_date>2026-03-05</current_date> Next?"],
  [
    "date",
    "<current_datetime>2026-01-05T08:00</current_datetime>",
    "<current_datetime>2026-01-06T08:00</current_datetime>",
  ],
  ["date", "Today's date is Monday, January 5, 2026.", "Today's date is Friday, June 19, 2026."],
  ["date", "The current date is 2026-01-05.", "The current date is 2027-01-05."],
  [
    "date",
    "The current date and time is: 2026-01-05 08:00",
    "The current date and time is: 2026-02-05 08:00",
  ],
  ["date", "The current date in ISO format is 2026-01-05", "The current date in ISO format is 2025-01-05"],
  ["time", "Current time: 2026-01-05 08:00\nGreet me.", "Current time: 2026-01-05 20:00\nGreet me."],
  ["time", "Current time: 08:00", "Current time: 20:00"],
  ["time", "Local time: 8:00 am", "Local time: 8:00 pm"],
  ["time", "Current local time: 08:00:00", "Current local time: 08:30:00"],
  [
    "time",
    "Current time in ISO 8601 UTC format: 2026-01-05T08:00:00Z",
    "Current time in ISO 8601 UTC format: 2026-01-05T09:00:00Z",
  ],
  ["time", "<current_time>08:00</current_time>", "<current_time>09:00</current_time>"],
  [
    "time",
    "# Current Time\n1/5/2026, 8:00:00 AM (Europe/Paris, UTC+1:00)",
    "# Current Time\n1/5/2026, 9:00:00 AM (Europe/Paris, UTC+1:00)",
  ],
  ["timezone", "Timezone: Europe/Paris\nWhen is noon UTC?", "Timezone: America/Lima\nWhen is noon UTC?"],
  ["timezone", "User time zone: EST", "User time zone: PST"],
  ["timezone", "Time zone: UTC+2", "Time zone: UTC-7"],
  ["timezone", "<timezone>Europe/Paris</timezone>", "<timezone>America/Lima</timezone>"],
  ["timezone", "<time_zone>CET</time_zone>", "<time_zone>MST</time_zone>"],
  ["git", "Git branch: scratch\nMay I push?", "Git branch: release\nMay I push?"],
  ["git", "Is a git repository: true", "Is a git repository: false"],
  ["git", "Is git repository: yes", "Is git repository: no"],
  ["git", "Is directory a git repo: yes", "Is directory a git repo: no"],
  ["git", "Git repository root: /data/sales", "Git repository root: /data/wages"],
  [
    "git",
    "gitStatus: This is the state.\n\nCurrent branch: scratch\n\nRecent commits:\n1a2b3c4 Fix the login",
    "gitStatus: This is the state.\n\nCurrent branch: scratch\n\nRecent commits:\n1a2b3c5 Drop the table",
  ],
  [
    "git",
    "Explain.\ngitStatus: This is the state.\nRecent commits:\n1a2b3c4 Fix the login",
    "Explain.",
  ],
  [
    "git",
    "<system-reminder>\nContext:\n# gitStatus\nThis is the state.\nRecent commits:\n1a2b3c4 Fix the login\nUse it.\n</system-reminder>",
    "<system-reminder>\nContext:\n# gitStatus\nThis is the state.\nRecent commits:\n1a2b3c5 Drop the table\nUse it.\n</system-reminder>",
  ],
  [
    "uuid",
    "Session ID: 11111111-2222-4333-8444-555555555555",
    "Session ID: 99999999-2222-4333-8444-555555555555",
  ],
  [
    "uuid",
    "Conversation ID: 11111111-2222-4333-8444-555555555555",
    "Conversation ID: 99999999-2222-4333-8444-555555555555",
  ],
  [
    "uuid",
    "Thread ID: 11111111-2222-4333-8444-555555555555",
    "Thread ID: 99999999-2222-4333-8444-555555555555",
  ],
  [
    "uuid",
    "<session_id>11111111-2222-4333-8444-555555555555</session_id>",
    "<session_id>99999999-2222-4333-8444-555555555555</session_id>",
  ],
  [
    "uuid",
    "<conversation_id>11111111-2222-4333-8444-555555555555</conversation_id>",
    "<conversation_id>99999999-2222-4333-8444-555555555555</conversation_id>",
  ],
  [
    "uuid",
    "<thread_id>11111111-2222-4333-8444-555555555555</thread_id>",
    "<thread_id>99999999-2222-4333-8444-555555555555</thread_id>",
  ],
  [
    "uuid",
    "Read sessions/11111111-2222-4333-8444-555555555555/log",
    "Read sessions/99999999-2222-4333-8444-555555555555/log",
  ],
  [
    "uuid",
    "session-state/11111111-2222-4333-8444-555555555555",
    "session-state/99999999-2222-4333-8444-555555555555",
  ],
];

const ROWS = LABELS.map(([kind, ...texts]) => [`${kind} after a label`, ...texts] as const);

/** Each label over the four APIs, at each place. */
export const LABEL_PAIRS: readonly Pair[] = [
  ...spread("miss", { apis: APIS, places: ["question"] }, ROWS),
  ...spread("miss", { apis: APIS, places: ["earlier", "tool", "system"] }, ROWS)
    .map((pair) => ({ ...pair, isShared: true })),
];
