/**
 * Returns the absolute path of the reprise executable: `REPRISE_BINARY_PATH` if it is set, otherwise the file in the
 * package of this platform.
 *
 * @throws {Error} if `REPRISE_BINARY_PATH` is no file, or if the package of this platform is missing. The message
 * names the platform, the package, the likely cause and what to do.
 */
export declare function binaryPath(): string;
