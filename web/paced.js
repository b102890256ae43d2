// SPDX-License-Identifier: MIT
// Reads again whenever something has changed, one read at a time.

/** `read` is called once for each change, or once for all that happen while it runs. It handles its own errors. */
export class Paced {
    /** @param {() => Promise<void>} read */
    constructor(read) {
        Object.assign(this, { read, isReading: false, isStale: false });
    }

    async ask() {
        this.isStale = true;
        if (this.isReading) return;
        this.isReading = true;
        while (this.isStale) {
            this.isStale = false;
            await this.read();
        }
        this.isReading = false;
    }
}
