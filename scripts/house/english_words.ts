/** A phrase that makes readers stop, and better ones. */
export interface Phrase {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
  /** Texts with the phrase that are right: quoted data, terms of the field, and texts for models in recorded requests. */
  readonly except?: readonly string[];
}

/** Phrases to avoid in documents, comments, messages, names and test names. */
export const PHRASES: readonly Phrase[] = [
  {
    name: "go on",
    pattern: /\b(?:go|goes|going|gone|went) on\b/gi,
    instead: "continue, resume",
    except: [
      '"go on"',
      '"Go on"',
      '"Go on."',
      '"Go on. "',
      "Sign in to go on",
      "where to go on.",
      "Go on without it",
      "agent goes on with its work",
    ],
  },
  {
    name: "told, tells",
    pattern: /\b(?:told|tells|telling)\b(?! (?:\w+ ){0,5}apart\b)/gi,
    instead: "reported, reports, prints",
  },
  { name: "anew", pattern: /\banew\b/gi, instead: "again" },
  {
    name: "behind",
    pattern: /\bbehind\b/gi,
    instead: "after",
    except: [
      "lag behind",
      "lags behind",
      "look-behind",
      "left behind",
      "behind NAT64",
      "behind a proxy",
      "behind a link",
      "behind are ended.",
    ],
  },
  {
    name: "stand for, stand in",
    pattern: /\b(?:stands?|stood)\b|\bstanding (?:in|for)\b/gi,
    instead: "represent, be in",
    except: [
      "old_text must stand in the file",
      "stands in the file exactly once",
      "This checkpoint stands for turns",
      "instruction that stands in them",
    ],
  },
  { name: "vouch", pattern: /\bvouch\w*/gi, instead: "checksum, verify" },
  { name: "mend", pattern: /\bmend(?:s|ed|ing)?\b/gi, instead: "repair, fix" },
  { name: "whose API it is", pattern: /\bwhose API (?:it|that|this) is\b/gi, instead: "API provider" },
  {
    name: "that is none",
    pattern: /\b(?:that|which) (?:is|are|was|were|has|have) none\b/gi,
    instead: "a dummy, not a",
  },
  { name: "nobody, whoever", pattern: /\b(?:nobody|no one|whoever)\b/gi, instead: "the person or program" },
  { name: "asked for", pattern: /\basked for\b/gi, instead: "used, requested" },
  { name: "handed out", pattern: /\bhand(?:s|ed|ing)? out\b/gi, instead: "issued" },
  { name: "minted", pattern: /\bmint(?:s|ed|ing)?\b/gi, instead: "issued, created" },
  { name: "the very", pattern: /\bthe very\b/gi, instead: "the same, the exact" },
  {
    name: "of which no more",
    pattern: /\bno more (?:than|of)\b|\bof which no\b/gi,
    instead: "only, at most",
  },
  {
    name: "as it was",
    pattern:
      /\bas (?:it|they) (?:is|was|were|are)\b(?! (?:\w+(?:ed|wn|nt|lt|pt|en)|read|made|found|put|set|cut|now|when|before|after)\b)/gi,
    instead: "unchanged",
  },
  { name: "come about", pattern: /\b(?:come|comes|came|coming) about\b/gi, instead: "happen" },
  { name: "in the place of", pattern: /\bin the place of\b/gi, instead: "replace, instead of" },
  { name: "by hand", pattern: /\bby hand\b/gi, instead: "manually" },
  {
    name: "take apart",
    pattern: /\bt(?:ake|akes|aken|aking|ook) (?:\w+ )?apart\b/gi,
    instead: "parse, split",
  },
  { name: "settle", pattern: /\bsettl(?:e|es|ed|ing)\b/gi, instead: "resolve" },
  {
    name: "make a session or file",
    pattern:
      /\bma(?:ke|kes|de|king) (?:a|an|the|no|its|any|another) (?:new )?(?:session|file|folder|directory|fixture)\b(?! (?:bad|look|damaged))|\b(?:session|file|folder|directory|fixture) (?:is|was) made\b/gi,
    instead: "create",
  },
  {
    name: "words of a text",
    pattern: /\b(?:its|their|his|own|unknown|other|same|whose) words\b/gi,
    instead: "text, prompt, wording",
    except: ["In other words, "],
  },
  { name: "a run's end", pattern: /\brun's ends?\b|\bends of (?:a|the) run\b/gi, instead: "outcome" },
  { name: "so many", pattern: /\bso many(?! (?:that|as)\b)/gi, instead: "the count by its name" },
  { name: "of which", pattern: /\bof wh(?:ich|om)\b/gi, instead: "a second sentence" },
  {
    name: "Where for If",
    pattern: /(?:\/\/|(?<!\/\*\*?\s*)\*|[.:;]) Where (?!to\b|the same)/g,
    instead: "if, when",
  },
  {
    name: "What as subject",
    pattern: /(?:\/\/|(?<!\/\*\*?\s*)\*|[.:;]) What (?!if\b)(?![^.\n]*\?)/g,
    instead: "a noun",
    except: [". What tools return is data"],
  },
  {
    name: "test name with what",
    pattern:
      /(?<=test\(\s*(?:\{ name: )?["`]|sealed\(\s*["`]|serv(?:ed|ing)\(\s*["`]|^ {2}["`])(?:what|who|whose|where) [a-z]/gm,
    instead: "a noun",
  },
  {
    name: "one as noun",
    pattern: /\b(?:for|of) one that\b|\bone (?:of|by|to|with) (?:which|whom)\b/gi,
    instead: "a noun",
  },
];

/** First words of a docstring that leave its subject open. */
export const HEADLESS =
  /\/\*\*\s+(?:\* )?(What|Whose|Which|Where|When|How|That|Who|Whatever|Whoever|If|Those|All that|All of what|One (?:that|who|whose))\b/g;
