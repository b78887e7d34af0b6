import { EventEmitter } from "node:events";

/** The server's side of a connection whose reader takes what waits when the test says so. */
export class FakeResponse extends EventEmitter {
  readonly destroyed = false;
  writableLength = 0;
  most = 0;
  text = "";

  write(bytes: Buffer | string): boolean {
    this.text += bytes.toString();
    this.writableLength += bytes.length;
    this.most = Math.max(this.most, this.writableLength);
    return this.writableLength < 512;
  }

  takeAll(): void {
    const full = this.writableLength >= 512;
    this.writableLength = 0;
    if (full) this.emit("drain");
  }

  end(): void {
    this.emit("close");
  }

  destroy(): void {
    this.emit("close");
  }

  writeHead(): void {}
  setTimeout(): void {}
}
