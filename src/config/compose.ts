/** Parses YAML into documents in slices, so that a reload of a large file does not block the event loop. */
import { Composer, type CST, type Document, isMap, isSeq, Lexer, type LineCounter, Parser } from "yaml";
import type { Sliced } from "../core/slices.ts";

/** Maximum number of list or map entries that are composed in one slice. */
const CHUNK = 500;
/** Lexemes between two yields: each yield passes through all generators of the load, which costs more than a lexeme. */
const LEXEMES = 100;

/**
 * The documents of a text, as the library's `parseDocument` reads them, except that duplicate keys are accepted: the
 * library's check compares each key with all others of its map, which is quadratic.
 * @param lines receives the offsets of the line starts
 */
export function* composeDocuments(text: string, lines: LineCounter): Sliced<Document.Parsed[]> {
  const { tokens, divisible } = yield* tokenize(text, lines);
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false };
  const compose = (some: readonly CST.Token[]) => [...new Composer(options).compose(some, true, text.length)];
  const { head, rest } = divisible ? divide(tokens) : { head: tokens, rest: [] };
  const documents = compose(head);
  yield;
  for (const { entry, token } of rest) {
    append(documents[0]!, entry, compose([token])[0]!);
    yield;
  }
  return documents;
}

/** Anchors and directives apply to the whole document: a document that contains any is not divided. */
function* tokenize(text: string, lines: LineCounter): Sliced<{ tokens: CST.Token[]; divisible: boolean }> {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let anchors = false;
  let count = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    anchors ||= lexeme.startsWith("&") || lexeme.startsWith("*");
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (++count % LEXEMES === 0) yield;
  }
  for (const token of parser.end()) tokens.push(token);
  yield;
  return { tokens, divisible: !anchors && tokens.length === 1 };
}

/** A document whose top map has one entry, which holds a chunk of that entry's own entries. */
interface Part {
  /** Position of the entry in the top map. */
  entry: number;
  token: CST.Document;
}

/** The document with the first chunk of each option, and the remaining chunks. */
function divide(tokens: CST.Token[]): { head: CST.Token[]; rest: Part[] } {
  const [document] = tokens;
  if (document?.type !== "document" || document.value?.type !== "block-map")
    return { head: tokens, rest: [] };
  const top = document.value;
  const rest: Part[] = [];
  const items = top.items.map((item, entry) => {
    const { value } = item;
    if (value?.type !== "block-map" && value?.type !== "block-seq") return item;
    const part = (from: number) => {
      const some = value.items.slice(from, from + CHUNK);
      return { ...item, value: { ...value, items: some } } as typeof item;
    };
    for (let from = CHUNK; from < value.items.length; from += CHUNK)
      rest.push({ entry, token: { ...document, value: { ...top, items: [part(from)] } as CST.BlockMap } });
    return part(0);
  });
  return { head: [{ ...document, value: { ...top, items } as CST.BlockMap }], rest };
}

/** Appends the entries of a part to the same entry of the document. */
function append(document: Document.Parsed, entry: number, part: Document.Parsed): void {
  document.errors.push(...part.errors);
  document.warnings.push(...part.warnings);
  const [whole, more] = [valueAt(document, entry), valueAt(part, 0)];
  if (isMap(whole) && isMap(more)) whole.items.push(...more.items);
  if (isSeq(whole) && isSeq(more)) whole.items.push(...more.items);
}

function valueAt(document: Document.Parsed, entry: number): unknown {
  const { contents } = document;
  return isMap(contents) ? contents.items[entry]?.value : undefined;
}
