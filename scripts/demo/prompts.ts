/** The session that the demo makes. */
export const DEMO_SESSION = "demo";

/** What the demo asks: the first run, then the second in a new process. */
export const DEMO_PROMPTS = [
  "Order 17 comes out one cent too high. Find out why, fix it, and run check.sh.",
  "How much tax did the old sum charge for that order?",
] as const;

/** What the demo's runs may do beside reading: write files, and run exactly one command. */
export const DEMO_PERMISSIONS = ["--allow", "write", "--allow", "shell:sh check.sh"] as const;
