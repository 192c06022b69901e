/** The path that the lines of a file ask: what `--format` says, else the first line. */
import { isObject, parseJson } from "../../../core/json.ts";
import { builtInFormats } from "../../../run/formats.ts";
import { UsageError } from "../../../cli/command.ts";
import { readLines } from "../lines/read-lines.ts";
import { assertEndpoint } from "../routes/create.ts";

/** Of lines that are bodies alone, without `--format`. */
const USUAL = "/v1/chat/completions";

/** @param format id of a format, a path, or a path below `/v1/`: `messages`, `embeddings` @throws UsageError */
export async function endpointOf(
  chunks: AsyncIterable<Uint8Array>,
  format: string | undefined,
): Promise<string> {
  if (format === undefined) return (await firstUrl(chunks)) ?? USUAL;
  const named = builtInFormats({ systemTurns: "accept" }).find(({ id }) => id === format);
  const candidates = [named?.client?.routes.path, format, `/v1/${format}`];
  const found = candidates.find((path) => path !== undefined && isServed(path));
  if (found !== undefined) return found;
  throw new UsageError(
    `--format is what the lines ask, such as messages, responses, embeddings or ${USUAL}; "${format}" is not possible`,
  );
}

function isServed(endpoint: string): boolean {
  try {
    assertEndpoint(endpoint);
    return true;
  } catch {
    return false;
  }
}

async function firstUrl(chunks: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  for await (const { bytes } of readLines(chunks)) {
    const json = parseJson(Buffer.from(bytes).toString());
    const url = isObject(json) ? json["url"] : undefined;
    return typeof url === "string" ? url : undefined;
  }
  return undefined;
}
