/** What becomes of the files of a request that is explained and not sent. */
import type { Seams } from "../../../gateway/seams.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { scanBody } from "../../../stream/scan.ts";
import { inlined, type Inlining } from "./inline.ts";

type Foresight = Awaited<ReturnType<NonNullable<Seams["foresee"]>>>;
type Explained = Parameters<NonNullable<Seams["foresee"]>>[0];

/** @returns undefined: the request names no file of weir @throws GatewayError as the call would */
export async function foreseeFiles(
  { call, bytes, body, format }: Explained,
  { files, most }: Pick<Inlining, "files" | "most">,
): Promise<Foresight> {
  const places = format.client.facts.files;
  if (!places?.mayHave(bytes)) return undefined;
  const whole = await inlined({ call, bytes, places, files, most });
  const parsed = whole === bytes ? undefined : parseJson(Buffer.from(whole).toString());
  if (!isObject(parsed)) return undefined;
  const { members } = scanBody(whole, Infinity);
  return {
    said: { bytes_with_files: whole.length },
    edited: { bytes: whole, body: { ...body, ...parsed }, spanOf: (name) => members.get(name) },
  };
}
