/** A copy of the source, to which a test adds features that no build has. */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "./documents.ts";

export class SourceCopy {
  readonly root = mkdtempSync(join(tmpdir(), "weir-source-"));

  constructor() {
    cpSync(join(ROOT, "src"), join(this.root, "src"), { recursive: true });
    for (const name of ["node_modules", "package.json", "tsconfig.json", "plugins", "bun.lock", "README.md"])
      symlinkSync(join(ROOT, name), join(this.root, name));
  }

  /** Copies files of the repository. */
  take(...files: readonly string[]): void {
    for (const file of files) {
      mkdirSync(join(this.root, dirname(file)), { recursive: true });
      cpSync(join(ROOT, file), join(this.root, file));
    }
  }

  /** Adds a feature to the list. @param file its manifest, from the root */
  add(name: string, file: string): void {
    const path = file.startsWith("src/") ? file.replace("src/", "./") : `../${file}`;
    appendFileSync(join(this.root, "src/features.ts"), `export { ${name} } from "${path}";\n`);
  }

  /** Builds the binary with the added features. @returns its path @throws Error with what the build printed */
  build(): string {
    const out = join(this.root, "weir");
    const { success, stderr, stdout } = Bun.spawnSync(
      [process.execPath, join(this.root, "src/build/main.ts"), "--out", out],
      { cwd: this.root },
    );
    if (!success) throw new Error(`${stdout}${stderr}`);
    return out;
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}
