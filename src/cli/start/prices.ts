/** The script with the price list; calls that show no cost do without it. */
export { listPrice } from "../../prices/table.ts";
