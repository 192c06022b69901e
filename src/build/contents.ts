/** Files of an archive besides the executable. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandsWith } from "../cli/commands.ts";
import { completionScript } from "../cli/completion.ts";
import { manPage } from "../cli/man.ts";
import { featuresIn } from "../feature/feature.ts";
import * as features from "../features.ts";
import { LINK, mapProse } from "../documents/markdown.ts";
import { VERSION } from "../process/version.ts";
import type { PackedFile } from "./file.ts";

/**
 * The files that are the same on every system. Their places are those of `/usr/local`.
 * @param root folder of the repository
 * @param repository `OWNER/NAME` on GitHub, to which the links of README.md lead
 */
export function commonFiles(root: string, repository: string | undefined): PackedFile[] {
  const text = (path: string, content: string): PackedFile => ({ path, content: Buffer.from(content) });
  const commands = commandsWith(featuresIn(features));
  const read = (name: string) => readFileSync(join(root, name), "utf8");
  return [
    text("LICENSE", read("LICENSE")),
    text(
      "README.md",
      repository === undefined ? read("README.md") : withLinksTo(repository, read("README.md")),
    ),
    text("share/man/man1/weir.1", manPage(commands)),
    text("share/bash-completion/completions/weir", completionScript("bash", commands)),
    text("share/zsh/site-functions/_weir", completionScript("zsh", commands)),
    text("share/fish/vendor_completions.d/weir.fish", completionScript("fish", commands)),
    text("share/powershell/weir.ps1", completionScript("powershell", commands)),
  ];
}

/** An archive has none of the files that README.md links to. */
function withLinksTo(repository: string, readme: string): string {
  const files = `https://github.com/${repository}/blob/v${VERSION}`;
  return mapProse(readme, (prose) =>
    prose.replace(LINK, (whole, label: string, target: string) =>
      /^(https?:|#)/.test(target) ? whole : `[${label}](${files}/${target})`,
    ),
  );
}
