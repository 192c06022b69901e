/** A volume of Kubernetes with the files of a config map or a secret, which changes as the kubelet changes it. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** The link that all files of a volume lead through. */
const DATA = "..data";

export interface VolumeOptions {
  /** Mode of the files. */
  mode?: number;
  /** Group of the files, as `fsGroup` of a pod sets it; only root can do that. */
  group?: number;
}

export class Volume {
  readonly folder: string;
  readonly #options: VolumeOptions;
  #version = 0;

  constructor(folder: string, files: Readonly<Record<string, string>>, options: VolumeOptions = {}) {
    this.folder = folder;
    this.#options = options;
    mkdirSync(folder, { recursive: true });
    this.swap(files);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /**
   * Writes all files into a new folder, lets `..data` lead to it by one rename, and removes the folder before: the files that
   * programs open are links, which stay as they are.
   */
  swap(files: Readonly<Record<string, string>>): void {
    const made = `..2026_11_27_17_00_0${this.#version++}.${process.pid}`;
    const { mode = 0o644, group } = this.#options;
    mkdirSync(this.path(made));
    chmodSync(this.path(made), 0o755);
    for (const [name, text] of Object.entries(files)) {
      const file = join(this.path(made), name);
      writeFileSync(file, text);
      if (group !== undefined) chownSync(file, 0, group);
      chmodSync(file, mode);
    }
    const before = this.#current();
    symlinkSync(made, this.path("..data_tmp"));
    renameSync(this.path("..data_tmp"), this.path(DATA));
    const linked = readdirSync(this.folder).filter((name) => !name.startsWith(".."));
    for (const name of Object.keys(files).filter((one) => !linked.includes(one)))
      symlinkSync(join(DATA, name), this.path(name));
    for (const name of linked.filter((one) => !Object.hasOwn(files, one))) rmSync(this.path(name));
    if (before !== undefined) rmSync(this.path(before), { recursive: true });
  }

  #current(): string | undefined {
    try {
      return readlinkSync(this.path(DATA));
    } catch {
      return undefined;
    }
  }
}
