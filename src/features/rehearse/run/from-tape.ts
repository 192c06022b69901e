/** The calls of a tape as a rehearsal gets them: with their texts, so that plugins that read them can be rehearsed. */
import { TOOL, type TapeEntry } from "../../../gateway/recording/entry.ts";
import { VERSION } from "../../../process/version.ts";
import { readTape } from "../../../tapes/file.ts";
import { type Outline, OUTLINE_VERSION, unknownOf } from "../outline/outline.ts";

/** Calls of models on a tape, and how many of them do not have their request. */
export interface TapedCalls {
  readonly outlines: readonly Outline[];
  readonly lacking: number;
}

/** @throws Error with one sentence if the file is no tape that this weir reads */
export function callsOnTape(path: string): TapedCalls {
  const entries = readTape(path, VERSION).filter(({ operation }) => operation !== TOOL);
  const outlines = entries.flatMap((entry) => outlineOf(entry) ?? []);
  return { outlines, lacking: entries.length - outlines.length };
}

function outlineOf({
  call,
  operation,
  format,
  stream,
  request,
  asked,
  from,
  usage,
}: TapeEntry): Outline | undefined {
  if (!asked) return undefined;
  const { body, headers, path } = asked;
  const unknown = unknownOf(body);
  return {
    v: OUTLINE_VERSION,
    at: 0,
    call: `call ${call}`,
    operation: operation as Outline["operation"],
    format,
    ...(path !== undefined && { path }),
    model: typeof body["model"] === "string" ? body["model"] : request.model,
    stream,
    headers,
    isWhole: true,
    bytes: Buffer.byteLength(JSON.stringify(body)),
    body,
    ...(unknown.length > 0 && { unknown }),
    ...(from && { by: from.provider }),
    ...(usage && { usage }),
  };
}
