/** What an archive holds besides the executable. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../cli/commands.ts";
import { completionScript } from "../cli/completion.ts";
import { manPage } from "../cli/man.ts";
import type { PackedFile } from "./file.ts";

/** The files that are the same on every system. Their places are those of `/usr/local`. @param root folder of the repository */
export function commonFiles(root: string): PackedFile[] {
  const text = (path: string, content: string): PackedFile => ({ path, content: Buffer.from(content) });
  const copy = (name: string) => text(name, readFileSync(join(root, name), "utf8"));
  return [
    copy("LICENSE"),
    copy("README.md"),
    text("share/man/man1/weir.1", manPage(COMMANDS)),
    text("share/bash-completion/completions/weir", completionScript("bash", COMMANDS)),
    text("share/zsh/site-functions/_weir", completionScript("zsh", COMMANDS)),
    text("share/fish/vendor_completions.d/weir.fish", completionScript("fish", COMMANDS)),
  ];
}
