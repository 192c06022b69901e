/** Makes small images of one colour, which the prompt decides. */
import type { CallView, ImageAnswer, ImageInput, ImageRequest } from "weir";
import { behaveFor } from "./behave.ts";
import { countTokens } from "./tokens.ts";

const EDGE = 8;
/** What the mock counts for one image, in tokens. */
const IMAGE_TOKENS = 16;

/** `mock/image` makes images; the models that fail, fail here, too. */
export async function image(request: ImageRequest, call: CallView): Promise<ImageAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const { images, mask, prompt, count, size, quality } = request;
  const seen = await Promise.all([...images, ...(mask ? [mask] : [])].map(digestOf));
  const seed = [prompt, ...seen].join("\n");
  const draw = (index: number) => png(new Bun.CryptoHasher("sha256").update(`${seed}\n${index}`).digest());
  const imageIn = seen.length * IMAGE_TOKENS;
  const output = count * IMAGE_TOKENS;
  return {
    images: Array.from({ length: count }, (_, index) => ({
      base64: draw(index),
      type: "image/png",
      // Of an edit: which files have come.
      ...(seen.length > 0 && { revisedPrompt: seen.join(" ") }),
    })),
    partials: Array.from({ length: request.partials }, (_, index) => draw(-1 - index)),
    size: size ?? `${EDGE}x${EDGE}`,
    quality: quality ?? "low",
    format: "png",
    background: "opaque",
    usage: {
      input: countTokens(prompt) + imageIn,
      imageIn,
      output,
      imageOut: output,
      units: { image: count },
    },
    model: `mock/${model}`,
  };
}

async function digestOf({ read, url = "" }: ImageInput): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(read ? await read() : url).digest("hex");
}

/** Base64 of a PNG. @param bytes at least three, its colour */
function png(bytes: Uint8Array): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(EDGE, 0);
  header.writeUInt32BE(EDGE, 4);
  // 8 bits for each of red, green and blue.
  header.set([8, 2], 8);
  const row = Buffer.concat([Buffer.from([0]), ...Array.from({ length: EDGE }, () => bytes.subarray(0, 3))]);
  const pixels = zlib(Buffer.concat(Array.from({ length: EDGE }, () => row)));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  const chunks = [chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]).toString("base64");
}

/** Deflated bytes with the head and the sum that PNG wants around them. */
function zlib(bytes: Buffer<ArrayBuffer>): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(Bun.hash.adler32(bytes));
  return Buffer.concat([Buffer.from([0x78, 0x9c]), Bun.deflateSync(bytes), sum]);
}

function chunk(name: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(Bun.hash.crc32(named), 4);
  return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)]);
}
