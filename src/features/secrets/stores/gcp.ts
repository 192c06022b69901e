/** Secret Manager of Google Cloud. */
import { googleIdentity, googleToken } from "../../../auth/google.ts";
import { isObject } from "../../../core/json.ts";
import { ask, expectObject } from "../ask.ts";
import { placeAt } from "../identity.ts";
import type { Environment, GcpOptions, Store } from "../store.ts";

/** `projects/p/secrets/name/versions/latest`; `projects/p/locations/l/secrets/…` of a region. */
const NAME = /^projects\/[^/]+(?:\/locations\/([a-z0-9-]+))?\/secrets\/[^/]+\/versions\/[^/]+$/;

export function secretManager({ keyFile, endpoint }: GcpOptions, env: Environment): Store {
  const place = placeAt("Google Cloud", env);
  return {
    async read(document, stop) {
      const [named, location] = NAME.exec(document) ?? [];
      if (named === undefined)
        throw new Error("must be written as projects/PROJECT/secrets/NAME/versions/latest");
      const region = location === undefined ? "" : `.${location}.rep`;
      const host = endpoint?.replace(/\/+$/, "") ?? `https://secretmanager${region}.googleapis.com`;
      const token = await googleToken(place, {
        ...(keyFile !== undefined && { keyFile }),
        metadata: googleIdentity({ env }, keyFile) === undefined,
      });
      const headers = { authorization: `Bearer ${token}` };
      const { payload, name } = expectObject(
        await ask({ url: `${host}/v1/${document}:access`, headers, stop }),
      );
      const data = isObject(payload) ? payload["data"] : undefined;
      if (typeof data !== "string") throw new Error("has no value");
      const version = typeof name === "string" ? name.split("/").at(-1) : undefined;
      return { content: Buffer.from(data, "base64").toString(), ...(version && { version }) };
    },
  };
}
