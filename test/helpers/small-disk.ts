/** A disk that a test can fill. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  path: string;
  /** Uses all of it but some bytes. */
  fill(): void;
  clear(): void;
  /** Removes it; what is open in it stays until it is closed. */
  end(): void;
}

/** A disk of its own; undefined where this user may not mount one. @param size in KB */
export function smallDisk(size = 64): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), "weir-disk-"));
  const remove = () => rmSync(path, { recursive: true, force: true });
  const { exitCode } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${size}k`, "tmpfs", path]);
  if (exitCode !== 0) {
    console.log("This user cannot mount a small disk: only the rest was tried.");
    remove();
    return undefined;
  }
  const ballast = join(path, "ballast");
  return {
    path,
    fill() {
      const file = openSync(ballast, "a");
      try {
        for (;;) writeFileSync(file, "x".repeat(512));
      } catch {
        closeSync(file);
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    end() {
      Bun.spawnSync(["umount", "-l", path]);
      remove();
    },
  };
}
