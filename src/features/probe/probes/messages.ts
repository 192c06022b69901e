/** Parts that a conversation may contain: images, system messages after the first position, the role developer. */
import type { Host } from "../host.ts";
import { judge, says } from "../judge.ts";
import type { Finding, Probe } from "../types.ts";
import { user } from "./ask.ts";
import type { JsonObject } from "../../../core/json.ts";

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

const QUESTION = user("What is two plus two?");
const ABOUT_ROLES = /system|developer|role|template|jinja/i;

export const roles: Probe = {
  finds: ["system", "system-in-the-middle", "developer-role"],
  asks: "an order in a system message, in one behind the first answer, and in a message with the role developer",
  calls: 3,
  async run(host) {
    const ask = (messages: JsonObject[]) => saying(host, /zebra/i, messages, ABOUT_ROLES);
    const first = await ask([{ role: "system", content: ORDER }, ...QUESTION]);
    const greeting = [...user("Hello"), { role: "assistant", content: "Hello." }];
    const later = await ask([...greeting, { role: "system", content: ORDER }, ...QUESTION]);
    const developer = await ask([{ role: "developer", content: ORDER }, ...QUESTION]);
    return {
      system: first,
      "system-in-the-middle": comparedWith(first, later),
      "developer-role": comparedWith(first, developer),
    };
  },
};

/** Of a model that follows no order it cannot be said where it looks for one. */
function comparedWith(first: Finding, other: Finding): Finding {
  if (other.verdict !== "ignored" || first.verdict === "yes") return other;
  return { verdict: "unclear", evidence: `${other.evidence}, as with the order in the first message` };
}

async function saying(host: Host, word: RegExp, messages: JsonObject[], about: RegExp): Promise<Finding> {
  return judge(
    await host.chat({ messages }),
    (answer) => says(word, answer, (text) => host.quote(text)),
    about,
  );
}
