/**
 * Fixture folders made by tests.
 *
 * @module
 */
export { type GivenExchange, writeFixture } from "../doors/recordings/recording_files.ts";
