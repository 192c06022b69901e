/**
 * What of a request is not in the request that reached an upstream of the other format: pieces that are gone, changed, said
 * by somebody else or in another order, results that answer another call, and text nobody wrote.
 */
import { canonical, piecesOf, type Piece } from "./pieces.ts";
import type { Api } from "./policy.ts";
import { schemaFaults } from "./schemas.ts";

type Value = Record<string, unknown>;

interface Fault {
  path: string;
  sentence: string;
}

/** Faults of the request that reached the upstream, unless a loss tells of them. */
export function lostPieces(api: Api, sent: Value, reached: Value, losses: readonly string[]): string[] {
  const [own, other] = [piecesOf[api](sent), piecesOf[api === "chat" ? "messages" : "chat"](reached)];
  return lostBetween(own, other, sent, losses);
}

/** Faults of the pieces that reached the upstream, unless a loss tells of them. @param sent the request of the client */
export function lostBetween(
  own: readonly Piece[],
  other: readonly Piece[],
  sent: Value,
  losses: readonly string[],
): string[] {
  const faults = [
    ...textFaults(own, other),
    ...callFaults(own, other),
    ...resultFaults(own, other),
    ...mediaFaults(own, other),
    ...toolFaults(own, other, losses, forcedTool(sent)),
  ];
  return faults
    .filter(({ path }) => !losses.some((loss) => covers(loss, path)))
    .map(({ path, sentence }) => `${sentence}: ${path}`);
}

/** A loss at a path excuses what lies under it, and what it lies in; one of a whole message would excuse too much. */
function covers(loss: string, path: string): boolean {
  if (/^(messages|input)\[\d+\]$/.test(loss)) return false;
  const under = (inner: string, outer: string) => inner === outer || /^[.[]/.test(inner.slice(outer.length));
  return (path.startsWith(loss) && under(path, loss)) || (loss.startsWith(path) && under(loss, path));
}

/** Texts that no result holds, in their order. Adjacent ones may be joined, so each is looked for in what is said. */
function textFaults(own: readonly Piece[], other: readonly Piece[]): Fault[] {
  const said = other
    .filter(({ kind }) => kind === "text")
    .map(({ by, value }) => ({ by, text: squeeze(value), from: 0 }));
  const head = own.findIndex(({ by, kind }) => by !== "system" && kind !== "tool");
  const faults: Fault[] = [];
  let at = 0;
  own.forEach((piece, index) => {
    if (piece.kind !== "text") return;
    const text = squeeze(piece.value);
    const isReminder = piece.by === "system" && index >= head;
    const fits = (by: string) => by === piece.by || (isReminder && by === "user");
    const found = said.findIndex(
      (each, place) => place >= at && fits(each.by) && each.text.includes(text, each.from),
    );
    if (found >= 0) {
      const segment = said[found]!;
      segment.from = segment.text.indexOf(text, segment.from) + text.length;
      at = found;
      return;
    }
    const elsewhere = said.find((each) => each.text.includes(text));
    const what = !elsewhere
      ? "text lost"
      : fits(elsewhere.by)
        ? "text moved"
        : `text said by ${elsewhere.by}`;
    faults.push({ path: piece.path, sentence: `${what} ${JSON.stringify(piece.value.slice(0, 60))}` });
  });
  return [...faults, ...inventedFaults(own, said)];
}

/** What is said over there and nobody here has said: sentences of the gateway's own are known. */
function inventedFaults(own: readonly Piece[], said: readonly { by: string; text: string }[]): Fault[] {
  const mine = own
    .flatMap((piece) => [piece, ...(piece.inside ?? [])])
    .filter(({ kind }) => kind === "text")
    .map(({ value }) => squeeze(value))
    .sort((left, right) => right.length - left.length);
  return said.flatMap(({ text }) => {
    const rest = mine.reduce((left, each) => (each === "" ? left : left.replaceAll(each, " ")), text);
    const foreign = OWN_SENTENCES.reduce((left, sentence) => left.replace(sentence, " "), rest).trim();
    // Blocks that only one vendor knows are written as text between brackets.
    return foreign === "" || /^[[<{"]/.test(foreign) || foreign.length < 4
      ? []
      : [{ path: "messages", sentence: `text nobody wrote ${JSON.stringify(foreign.slice(0, 60))}` }];
  });
}

const OWN_SENTENCES = [
  /<\/?system-reminder>/g,
  /\((continue|empty)\)/g,
  /You must call one of the tools\./,
  /Do not call any tools\./,
  /\(see document\)/g,
  /Respond with one JSON object only[^]*/,
  /Give your final answer by calling the tool \w+, and write no other text\./,
];

/** Calls in their order, with name, arguments and an id that is kept where it is legal. */
function callFaults(own: readonly Piece[], other: readonly Piece[]): Fault[] {
  const calls = other.filter(({ kind }) => kind === "call");
  const faults: Fault[] = [];
  for (const piece of own.filter(({ kind }) => kind === "call")) {
    const at = calls.findIndex(({ value }) => sameName(value, piece.value));
    const found = at < 0 ? undefined : calls.splice(at, 1)[0]!;
    if (!found) faults.push({ path: piece.path, sentence: `call lost ${piece.value.slice(0, 60)}` });
    else if (at > 0) faults.push({ path: piece.path, sentence: `call moved ${piece.value.slice(0, 60)}` });
    else if (isKept(piece.id!, own) && found.id !== piece.id && !isOfMistral(found.id!))
      faults.push({ path: piece.path, sentence: `the call id ${piece.id} became ${found.id}` });
  }
  for (const { value } of calls)
    faults.push({ path: "messages", sentence: `call nobody made ${value.slice(0, 60)}` });
  return faults;
}

/** Legal everywhere, and of one call only. */
function isKept(id: string, own: readonly Piece[]): boolean {
  const same = own.filter((piece) => piece.kind === "call" && piece.id === id);
  return /^[a-zA-Z0-9_-]{1,40}$/.test(id) && same.length === 1;
}

function isOfMistral(id: string): boolean {
  return /^[a-zA-Z0-9]{9}$/.test(id);
}

/** Names that are illegal over there are renamed: the legal head has to be the same. */
function sameName(other: string, own: string): boolean {
  const legal = own.replace(/^[^ ]+/, (name) => name.replace(/[^a-zA-Z0-9_-]/g, "_"));
  return other === legal || (own.length > 64 && other.startsWith(legal.slice(0, 40)));
}

/** Each result by the place of the call it answers, with its texts, and whether the tool failed. */
function resultFaults(own: readonly Piece[], other: readonly Piece[]): Fault[] {
  const [mine, theirs] = [answered(own), answered(other)];
  const faults: Fault[] = [];
  for (const [call, result] of mine) {
    const got = theirs.get(call);
    const text = saidIn(result);
    if (!got) faults.push({ path: result.path, sentence: `result lost of call ${call}` });
    else if (resultText(got) !== text)
      faults.push({
        path: result.path,
        sentence: `result of call ${call} ${show(text)} became ${show(resultText(got))}`,
      });
    else if (result.failed && !hasFailed(got))
      faults.push({ path: result.path, sentence: `is_error lost of call ${call}` });
    else if (!result.failed && got.failed)
      faults.push({ path: result.path, sentence: `is_error invented of call ${call}` });
  }
  return faults;
}

/** The results by the number of the call they answer; of several for one call, the last. */
function answered(pieces: readonly Piece[]): Map<number, Piece> {
  const results = new Map<number, Piece>();
  const open = new Map<string, number[]>();
  let calls = 0;
  for (const piece of pieces) {
    if (piece.kind === "call") open.set(piece.id!, [...(open.get(piece.id!) ?? []), calls++]);
    if (piece.kind !== "result") continue;
    const waiting = open.get(piece.id!) ?? [];
    const call = waiting.length > 1 ? waiting.shift() : waiting[0];
    if (call !== undefined) results.set(call, piece);
  }
  return results;
}

function saidIn({ inside = [] }: Piece): string {
  return squeeze(
    inside
      .filter(({ kind }) => kind === "text")
      .map(({ value }) => value)
      .join(" "),
  );
}

/** Without what the gateway writes beside it: marks of failure, and of media that follow in a message of their own. */
function resultText(result: Piece): string {
  const marks = /\[tool error\]|\[(image|document) \d+ of call \S+ follows\]/g;
  return squeeze(saidIn(result).replace(marks, " "));
}

function hasFailed(result: Piece): boolean {
  return result.failed === true || saidIn(result).startsWith("[tool error]");
}

/** Images, documents and audio by their bytes or addresses, in their order. */
function mediaFaults(own: readonly Piece[], other: readonly Piece[]): Fault[] {
  const isMedia = ({ kind }: Piece) => kind === "image" || kind === "document" || kind === "audio";
  const all = (pieces: readonly Piece[]) =>
    pieces.flatMap((piece) => [piece, ...(piece.inside ?? [])]).filter(isMedia);
  const rest = all(other);
  const faults: Fault[] = [];
  for (const piece of all(own)) {
    const at = rest.findIndex(({ kind, value }) => kind === piece.kind && value === piece.value);
    if (at < 0) faults.push({ path: piece.path, sentence: `${piece.kind} lost ${piece.value}` });
    else rest.splice(at, 1);
  }
  for (const { kind, value } of rest)
    faults.push({ path: "messages", sentence: `${kind} nobody sent ${value.slice(0, 60)}` });
  return faults;
}

/** Tools by their names, in order, with descriptions and schemas. */
function toolFaults(
  own: readonly Piece[],
  other: readonly Piece[],
  losses: readonly string[],
  forced: string | undefined,
): Fault[] {
  const theirs = other.filter(({ kind }) => kind === "tool");
  const faults: Fault[] = [];
  for (const tool of own.filter(({ kind }) => kind === "tool")) {
    const found = theirs.find(({ value }) => sameName(value, tool.value));
    if (!found) {
      // Where a tool cannot be forced, or not by its name, weir offers no other tool.
      const isForced =
        theirs.length === 1 &&
        (losses.includes("tool_choice") || (forced !== undefined && sameName(theirs[0]!.value, forced)));
      if (!isForced) faults.push({ path: tool.path, sentence: `tool lost ${tool.value}` });
      continue;
    }
    const say = (what: string) => faults.push({ path: tool.path, sentence: `${what} of tool ${tool.value}` });
    if (!squeeze(found.description!).startsWith(squeeze(tool.description!))) say("description changed");
    const isLoose = tool.strict === true || losses.some((loss) => covers(loss, tool.path));
    for (const fault of schemaFaults(tool.schema, found.schema, isLoose)) say(`schema changed (${fault})`);
    if (found.strict && !tool.strict) say("strict invented");
    if (tool.strict && !found.strict) say("strict lost");
  }
  return faults;
}

/** Name of the tool that the request forces the model to call. */
function forcedTool({ tool_choice: choice }: Value): string | undefined {
  const { name, function: named } = (choice ?? {}) as { name?: string; function?: { name: string } };
  return named?.name ?? name;
}

/** Blanks are compared as one: texts are joined and trimmed on the way. */
function squeeze(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function show(text: string): string {
  return canonical(text.slice(0, 50));
}
