/** The session that the demo makes. */
export const DEMO_SESSION = "demo";

/** What the demo asks: the first run, then the second in a new process. */
export const DEMO_PROMPTS = [
  "Why is order 17 charged one cent too much?",
  "Which line would you change, and how?",
] as const;
