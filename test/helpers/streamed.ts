/** Reads a streamed answer of the gateway to its end, whichever end that is. */

/** An error event of any dialect, whole; in a stream that is a JSON array or JSON values in lines, its last value. */
const ERROR_EVENT =
  /^(?:event: error\r?\n)?data: \{(?:"type":"error",)?"error": ?\{.*\r?\n\r?\n|^\[?\{"error":\{.*\}\]$|^\{"error":".*"\}\n/m;

/** More than an error event has. */
const TAIL_BYTES = 16_384;

/** What weir may write behind an error event until it closes the connection. */
export const BEHIND_ERROR = /(?<=\n\n)(?::\n\n|\{"error":\{.*\n\n)+$|(?<=\}\n) +$/;

/**
 * The text of an answer that may break off. Behind an error event weir closes the connection without ending the body, which
 * takes it up to four seconds; that is not waited for. The comment with which weir learns that the client's socket has
 * accepted the event, or the error once more without framing, may come in the same read; it is left out.
 */
export async function streamedText(response: Response): Promise<string> {
  const { text } = await readStreamed(response, true);
  return text.replace(BEHIND_ERROR, "");
}

export interface Streamed {
  bytes: Buffer;
  text: string;
  /** `left`: an error event came, and the rest was not waited for. */
  ending: "clean" | "broken" | "left";
}

/** @param leave do not wait for what comes behind an error event */
export async function readStreamed(response: Response, leave = false): Promise<Streamed> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array[] = [];
  let tail = "";
  const ended = (ending: Streamed["ending"]): Streamed => {
    const bytes = Buffer.concat(pieces);
    return { bytes, text: bytes.toString("utf8"), ending };
  };
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return ended("clean");
      pieces.push(value);
      if (!leave) continue;
      // The event may come in pieces; a client that searched all of a long answer for it would read too slowly.
      tail = (tail + Buffer.from(value).toString("latin1")).slice(-TAIL_BYTES);
      if (!ERROR_EVENT.test(tail)) continue;
      await reader?.cancel();
      return ended("left");
    }
  } catch {
    return ended("broken");
  }
}
