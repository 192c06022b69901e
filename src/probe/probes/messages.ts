/** What a conversation may contain: images, system messages after the first position, the role developer. */
import type { Host } from "../host.ts";
import { judge, says } from "../judge.ts";
import type { Finding, Probe } from "../types.ts";
import { user } from "./ask.ts";
import type { JsonObject } from "../../core/json.ts";

/** A PNG of 64 by 64 red pixels. */
const RED =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsAtx/ZMZxgi+hcEKLNO+FgEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBywKqxUDxqh7TUQAAAABJRU5ErkJggg==";

export const images: Probe = {
  finds: ["images"],
  asks: "the colour of a small red image",
  calls: 1,
  async run(host) {
    const content = [
      { type: "text", text: "Which colour fills this image? Answer with one word." },
      { type: "image_url", image_url: { url: `data:image/png;base64,${RED}` } },
    ];
    return {
      images: await saying(host, /\bred\b/i, [{ role: "user", content }], /image|vision|multimodal|mmproj/i),
    };
  },
};

/** A word that no model answers by itself. */
const WORD = "ZEBRA";
const ORDER = `Answer every message with the one word ${WORD}.`;

export const systemInTheMiddle: Probe = {
  finds: ["system-in-the-middle"],
  asks: "a conversation with a system message behind the first answer",
  calls: 1,
  async run(host) {
    const messages = [
      ...user("Hello"),
      { role: "assistant", content: "Hello." },
      { role: "system", content: ORDER },
      ...user("What is two plus two?"),
    ];
    return { "system-in-the-middle": await saying(host, /zebra/i, messages, /system|role|template|jinja/i) };
  },
};

export const developerRole: Probe = {
  finds: ["developer-role"],
  asks: "a message with the role developer",
  calls: 1,
  async run(host) {
    const messages = [{ role: "developer", content: ORDER }, ...user("What is two plus two?")];
    return { "developer-role": await saying(host, /zebra/i, messages, /developer|role|template|jinja/i) };
  },
};

async function saying(host: Host, word: RegExp, messages: JsonObject[], about: RegExp): Promise<Finding> {
  return judge(
    await host.chat({ messages }),
    (answer) => says(word, answer, (text) => host.quote(text)),
    about,
  );
}
