export { closestTo } from "../../protocol/closest-to.ts";
