/** Faults that `weir guards prove` has to find: each one edit of the source. */

export interface PlantedFault {
  readonly name: string;
  /** From `src/` on. */
  readonly file: string;
  /** Text that the file has once. */
  readonly from: string;
  readonly to: string;
}

type Edits = readonly (readonly [name: string, from: string, to: string])[];

const G = "features/guards/";
const F = "formats/";

const EDITS: Readonly<Record<string, Edits>> = {
  [`${G}flow/kinds.ts`]: [
    ["system texts are skipped", 'text: ["text", "system", "other"]', 'text: ["text", "other"]'],
    ["texts are skipped", 'text: ["text", "system", "other"]', 'text: ["system", "other"]'],
    ["arguments are skipped", '["tool-arguments", "tool-result"]', '["tool-result"]'],
    ["results of tools are skipped", '["tool-arguments", "tool-result"]', '["tool-arguments"]'],
    ["documents are skipped", 'documents: ["document"]', "documents: []"],
  ],
  [`${F}chat-completions/client/places.ts`]: [
    ["chat forgets content", 'content: { ...PART, piece: "content" },', "content: WORD,"],
    ["chat forgets parts of content", '...each({ piece: "part" }, "text"),', "text: WORD,"],
    ["chat forgets names of files", 'filename: { kind: "document" }', "filename: WORD"],
    ["chat takes arguments for a plain text", 'isJson: true, piece: "arguments"', 'piece: "arguments"'],
    ["chat mixes choices", 'channel: String(read("index") ?? 0)', 'channel: "0"'],
    ["chat mixes calls of tools", "`call ${Number(index ?? 0)}`", '"call"'],
    ["embeddings have no input", "    input: TEXT,\n  },\n};", "    input: WORD,\n  },\n};"],
  ],
  [`${F}messages/client/places.ts`]: [
    ["messages forgets system", 'system: { ...BLOCK, kind: "system" }', "system: WORD"],
    [
      "messages forgets data of documents",
      '"text title context thinking data url refusal"),',
      '"text title context thinking url refusal"), data: WORD,',
    ],
    ["messages forgets input of tools", "    input: ARGUMENTS,", "    input: WORD,"],
    [
      "messages forgets content within content",
      "    get content(): Rule {\n      return BLOCK;",
      "    get content(): Rule {\n      return WORD;",
    ],
    ["messages mixes blocks", '{ channel: String(read("index")) }', '{ channel: "0" }'],
    ["messages reads signed thinking", '{ kind: "reasoning", fixed: "signed" }', '{ kind: "reasoning" }'],
  ],
  [`${F}responses/client/places.ts`]: [
    [
      "responses forgets instructions",
      'instructions: { kind: "system", members: ITEM.members }',
      "instructions: WORD",
    ],
    ["responses forgets output of tools", 'output: { ...PART, kind: "tool-result" },', "output: WORD,"],
    [
      "responses forgets arguments",
      'arguments: { kind: "tool-arguments", isJson: true },',
      "arguments: WORD,",
    ],
    ["responses forgets content of items", "    content: PART,", "    content: WORD,"],
    ["responses forgets names of files", 'filename: { kind: "document" }', "filename: WORD"],
    [
      "responses repeats the whole text",
      'each(TEXT, "text refusal arguments input code")',
      'each(WORD, "text refusal arguments input code")',
    ],
  ],
  [`${F}gemini/client/places.ts`]: [
    [
      "gemini forgets systemInstruction",
      'systemInstruction: { kind: "system", members: { role: WORD, parts: PART } }',
      "systemInstruction: WORD",
    ],
    [
      "gemini forgets responses of functions",
      "        response: TEXT,\n        parts",
      "        response: WORD,\n        parts",
    ],
    ["gemini forgets arguments", 'each(ARGUMENTS, "args partialArgs")', 'each(WORD, "args partialArgs")'],
    ["gemini forgets texts", '    text: { piece: "text" },\n    thought', "    text: WORD,\n    thought"],
  ],
  [`${F}ollama/client/places.ts`]: [
    [
      "ollama forgets prompts",
      '...each(TEXT, "prompt suffix input")',
      '...each(WORD, "prompt suffix input")',
    ],
    ["ollama forgets arguments", "arguments: ARGUMENTS", "arguments: WORD"],
    [
      "ollama forgets system",
      '...each({ kind: "system" }, "system template")',
      '...each(WORD, "system template")',
    ],
  ],
  [`${G}pass/request.ts`]: [
    [
      "the last text is skipped",
      "texts.filter(({ place, text }) => text",
      "const read = texts.slice(0, -1).filter(",
    ],
    [
      "one text of each kind is read",
      "    texts.push(...inspected);",
      '    if (!texts.some((one) => one.place.path.replace(/.$/, "") === place.path.replace(/.$/, "") || one.place.path.slice(0, -7) === place.path.slice(0, -7))) texts.push(...inspected);',
    ],
    ["values are cut one unit short", "text.slice(start, end);", "text.slice(start, end - 1);"],
    [
      "only flags",
      'if (values.size === 0 || guard.action === "flag") return;',
      'if (values.size === 0 || guard.action !== "mask") return;',
    ],
    [
      "a block lets pass",
      'if (guard.action === "block") throw',
      'if (guard.action === "block" && values.size > 0) throw',
    ],
    ["a verdict is not noted", 'verdicts.note(guard, "input", { kind, normal }, place.path, verdict);', ""],
  ],
  [`${G}pass/texts.ts`]: [
    ["the first occurrence alone goes", "      ...hits.map(", "      ...hits.slice(0, 1).map("],
    [
      "names and declarations keep values",
      "if (fixed || OPAQUE.has(kind)",
      'if (fixed || kind === "declaration" || kind === "name" || OPAQUE.has(kind)',
    ],
    ["signed texts change", "if (fixed || OPAQUE", "if (OPAQUE"],
  ],
  [`${G}pass/inner.ts`]: [
    [
      "strings within JSON are forgotten",
      "if (text === given) continue;",
      "if (text === given || outer) continue;",
    ],
    [
      "lists within JSON are skipped, and members behind the first",
      "for (const [name, value] of node.entries())",
      "for (const [name, value] of [...node.entries()].slice(1))",
    ],
  ],
  [`${G}pass/view.ts`]: [
    ["JSON is read with its escapes", 'if (!piece.includes("\\\\")) return', "if (piece) return"],
    [
      "places within JSON are off by one",
      "at: (position) => places[position]!",
      "at: (position) => Math.max(0, places[position]! - 1)",
    ],
  ],
  [`${G}pass/channel.ts`]: [
    [
      "pieces are judged one by one",
      "output.judge(this.#rest, this.#text, isFinal, this.#context, false, this.#began)",
      "output.judge(this.#rest, this.#text, true, this.#context, false, this.#began)",
    ],
    [
      "a tail is released too early",
      "this.#decide(edge, edits);",
      "this.#decide(Math.min(this.#rest.length, edge + 1), edits);",
    ],
    [
      "the context is lost",
      "this.#context = (this.#context + read).slice(-CONTEXT);",
      'this.#context = "xxxxxxxx";',
    ],
    ["a half value is written twice", 'text: edit.start >= start ? edit.text : ""', "text: edit.text"],
  ],
  [`${G}pass/output.ts`]: [
    ["arguments are restored without escapes", "isJson ? escaped(value) : value", "value"],
    [
      "restored values are found again",
      "withoutTokens(text.slice(0, restored.edge), restored.found)",
      "restored.found.reduce((read, { start, value }) => read.slice(0, start) + value + read.slice(start + value.length), text.slice(0, restored.edge))",
    ],
    [
      "an edge cuts tokens",
      "[...seen.map(({ whole }) => whole), ...restored.found]",
      "seen.map(({ whole }) => whole)",
    ],
    ["an answer is not restored", "of this.restores ? restored : []", "of [] as typeof restored"],
    [
      "what a model writes is not replaced",
      'if (guard.action === "flag") continue;',
      'if (guard.action !== "mask") continue;',
    ],
    ["no reach of detectors", "reachOfAll(read, guard.detectors) ?? 0", "read.length"],
    ["repeats count again", "if (count > before)", "if (count > 0)"],
  ],
  [`${G}pass/stream.ts`]: [
    ["no last flush", "const judged = this.#settle(true);", "const judged = this.#settle(false);"],
    [
      "an answer that is blocked goes on",
      "if (judged) return this.#block(this.#settle(false) ?? judged);",
      "if (judged) continue;",
    ],
    [
      "an answer that waits is not read further",
      "else if (!this.#send(false)) this.#ask();",
      "else this.#send(false);",
    ],
    ["a blocked stream ends well", ": () => super.fail(error);", ": () => super.end();"],
    [
      "one state for all channels",
      "this.#channel(`${text.channel} ${text.kind}`, text)",
      'this.#channel("all", text)',
    ],
  ],
  [`${G}pass/events.ts`]: [["events do not wait", "event.open === 0 && !isStopped", "!isStopped"]],
  [`${G}pass/answer.ts`]: [
    ["whole answers are not judged", "? guardJson(opened, places, stages)", "? opened"],
    [
      "streams are not judged",
      "return { ...opened, source };",
      "return { ...opened, source: opened.source };",
    ],
    ["a block comes after the first bytes", "if (waits) await source.ready();", ""],
  ],
  [`${G}replace/call-map.ts`]: [
    [
      "all calls share their values",
      "readonly #values = new Map<string, string>();",
      "readonly #values = ((globalThis as { values?: Map<string, string> }).values ??= new Map());",
    ],
    [
      "a spelling comes back as another one",
      "this.#values.set(token, written);",
      "this.#values.set(token, normal);",
    ],
    ["one token for all spellings", "++known.forms", "1"],
  ],
  [`${G}replace/token.ts`]: [
    [
      "tokens of each call differ",
      ".update(`${kind}\\0${value}`)",
      ".update(`${kind}\\0${value}${Math.random()}`)",
    ],
    ["tokens have a character less", "export const SHORT = 8;", "export const SHORT = 7;"],
  ],
  [`${G}replace/restore.ts`]: [
    ["the shortest token wins", "other.length - one.length", "one.length - other.length"],
    [
      "a half token does not wait",
      "if (!isFinal && this.#mayGrow(lower, at))",
      "if (isFinal && this.#mayGrow(lower, at))",
    ],
  ],
  [`${G}detect/scan.ts`]: [
    [
      "offsets are those of UTF-8",
      "{ start: form.at(finding.start), end: form.at(finding.end) }",
      "{ start: Buffer.byteLength(text.slice(0, form.at(finding.start))), end: Buffer.byteLength(text.slice(0, form.at(finding.end))) }",
    ],
    [
      "offsets are code points",
      "{ start: form.at(finding.start), end: form.at(finding.end) }",
      "{ start: [...text.slice(0, form.at(finding.start))].length, end: [...text.slice(0, form.at(finding.end))].length }",
    ],
    [
      "offsets are those of the normal form",
      "{ start: form.at(finding.start), end: form.at(finding.end) }",
      "finding",
    ],
  ],
  [`${G}detect/forms.ts`]: [
    [
      "base64 is not read",
      "for (const run of base64Runs(text, from))",
      "for (const run of [...base64Runs(text, from)].slice(1))",
    ],
    ["escapes are not read", "for (const code of CODES)", "for (const code of CODES.slice(0, 0))"],
    [
      "compatible characters are not read",
      "const plain = compatible(text, from);",
      "const plain: Form = { text, from, at: (at) => at };",
    ],
  ],
  [`${G}around.ts`]: [
    [
      "the map is not kept beside stored answers",
      "if (map.size > 0 && keepsMap)",
      "if (map.size > 99 && keepsMap)",
    ],
    ["the provider gets the request as it came", "const opening = next(edited)", "const opening = next()"],
    ["an error has tokens for its client", "return thrown.reworded(message);", "return thrown;"],
    [
      "the log has the values of an error",
      "call.error ??= describeError(thrown, call);",
      "call.error ??= describeError(thrown.reworded(message), call);",
    ],
    [
      "counts are not guarded",
      "const guards = this.#for(entry)",
      'const guards = (entry.operation === "count" ? [] : this.#for(entry))',
    ],
    [
      "embeddings are not guarded",
      "const guards = this.#for(entry)",
      'const guards = (entry.operation === "embeddings" ? [] : this.#for(entry))',
    ],
    [
      "streams are not guarded",
      "const guards = this.#for(entry)",
      "const guards = (entry.call.stream ? [] : this.#for(entry))",
    ],
    [
      "stored answers are not guarded",
      'if (entry.operation === "stored" || ',
      'if (entry.operation === "stored") return []; if (',
    ],
  ],
  [`${G}flow/models.ts`]: [
    ["fallbacks are not guarded", "return [choices, ...fallbacks, ...larger]", "return [choices, ...larger]"],
  ],
  [`${G}ask/make.ts`]: [
    ["without a verdict calls pass", 'onError = "block"', 'onError = "pass"'],
    ["onError means the contrary", 'onError === "pass"', 'onError !== "pass"'],
  ],
  "gateway/seams.ts": [
    [
      "guards stand within captures",
      '"guard", "outline", "repeat", "tape", "capture", "cache"',
      '"outline", "repeat", "tape", "capture", "guard", "cache"',
    ],
  ],
};

export const FAULTS: readonly PlantedFault[] = Object.entries(EDITS).flatMap(([file, edits]) =>
  edits.map(([name, from, to]) => ({ name, file, from, to })),
);
