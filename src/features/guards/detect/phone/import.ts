/**
 * Makes `regions.json` from the metadata of libphonenumber (Apache License 2.0, by Google), as the package libphonenumber-js (MIT) has
 * it: `bun src/features/guards/detect/phone/import.ts node_modules/libphonenumber-js/metadata.min.json`.
 */
import { join } from "node:path";

/** Calling code, prefix of international calls, pattern of national numbers, lengths, formats, prefix of national calls. */
type Given = readonly [code: string, unknown, pattern: string, unknown, unknown, trunk?: unknown];

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error("usage: bun import.ts metadata.min.json");
  const given = (await Bun.file(file).json()) as {
    countries: Record<string, Given>;
    nonGeographic: Record<string, Given>;
  };
  const all = Object.entries({ ...given.countries, ...given.nonGeographic }).map(
    ([name, [code, , pattern, , , trunk]]) => [
      name,
      typeof trunk === "string" ? [code, pattern, trunk] : [code, pattern],
    ],
  );
  await Bun.write(
    join(import.meta.dir, "regions.json"),
    `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`,
  );
}
