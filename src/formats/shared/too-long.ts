/** Recognises a vendor's "prompt too long" error and words it for the clients of a format. */

/** Wordings of OpenAI, Anthropic, Gemini, Bedrock, vLLM, SGLang, llama.cpp, Ollama, LM Studio, TGI, Mistral, Groq, xAI… */
const TOO_LONG = new RegExp(
  [
    "maximum context length",
    "max(?:imum)? (?:context|sequence|model|input|prompt) (?:length|len|limit|tokens?)",
    "context (?:length|window|size|limit)[^.]*(?:exceed|reached|limit|too)",
    "(?:exceed\\w*|longer than|greater than)[^.]*context (?:length|window|size|limit)",
    "prompt (?:is )?too long",
    "prompt_too_long",
    "input (?:is )?too long",
    "too many (?:input )?tokens",
    "(?:input|prompt) token count[^.]*exceeds",
    "tokens? [^.]*exceeds? the (?:model|maximum)",
    "exceeded model token limit",
    "inputs?`? tokens? \\+ `?max_new_tokens",
    "reduce the length of (?:the|your) (?:messages|prompt|input)",
  ].join("|"),
  "i",
);

/** Whether a vendor's message says that the prompt is too long for the model. */
export function saysTooLong(sentence: string): boolean {
  return TOO_LONG.test(sentence);
}

/** The wording that the clients of a format recognise as "prompt too long". */
export interface TooLongWords {
  /** Messages that these clients already recognise. */
  known: RegExp;
  withFigures(overflow: Overflow): string;
  withoutFigures(message: string): string;
}

/** Rewords a vendor's message for the clients of a format. */
export function wordTooLong(message: string, words: TooLongWords): string {
  if (words.known.test(message)) return message;
  const overflow = readOverflow(message);
  return overflow ? words.withFigures(overflow) : words.withoutFigures(message);
}

/** Token counts. */
interface Overflow {
  sent: number;
  allowed: number;
}

/** Patterns for the two numbers; `sent` and `allowed` are the groups that hold them, and several groups are added. */
const FIGURES: readonly { pattern: RegExp; sent: readonly number[]; allowed: number }[] = [
  { pattern: /too long: (\d+) tokens > (\d+)/i, sent: [1], allowed: 2 },
  { pattern: /context limit: (\d+) \+ (\d+) > (\d+)/i, sent: [1, 2], allowed: 3 },
  {
    pattern:
      /maximum (?:context|prompt) length (?:is|of) (\d+)[\s\S]*?(?:resulted in|requested|has|contains?)[^\d]*(\d+)/i,
    sent: [2],
    allowed: 1,
  },
  { pattern: /must be <= (\d+)[\s\S]*?given: (\d+)/i, sent: [2], allowed: 1 },
  { pattern: /token count[^\d]*(\d+)[\s\S]*?(?:maximum|limit)[^\d]*(\d+)/i, sent: [1], allowed: 2 },
  { pattern: /\((\d+) tokens\)[\s\S]*?context (?:size|length) \((\d+) tokens\)/i, sent: [1], allowed: 2 },
  { pattern: /token limit: (\d+) \(requested: (\d+)\)/i, sent: [2], allowed: 1 },
  { pattern: /(\d+) tokens[^\d]*(?:draft)?[\s\S]*?with (\d+) maximum context/i, sent: [1], allowed: 2 },
  { pattern: /(\d+) (?:input )?tokens?[\s\S]*?(?:maximum|limit|context)[^\d]*(\d+)/i, sent: [1], allowed: 2 },
];

/** Reads both counts, with or without thousands separators; `undefined` if the message does not contain both. */
function readOverflow(sentence: string): Overflow | undefined {
  const plain = sentence.replace(/(?<=\d),(?=\d{3})/g, "");
  for (const { pattern, sent, allowed } of FIGURES) {
    const match = pattern.exec(plain);
    if (!match) continue;
    const figures = {
      sent: sent.reduce((sum, group) => sum + Number(match[group]), 0),
      allowed: Number(match[allowed]),
    };
    // Otherwise the pattern matched other numbers.
    if (figures.sent > figures.allowed) return figures;
  }
  return undefined;
}
