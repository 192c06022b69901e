/** A volume of Kubernetes with the files of a config map or a secret, which changes as the kubelet changes it. */
import {
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

export class Volume {
  readonly folder: string;
  #version = 0;

  constructor(folder: string, files: Readonly<Record<string, string>>) {
    this.folder = folder;
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
    mkdirSync(this.path(made));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.path(made), name), text);
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
