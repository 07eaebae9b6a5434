/**
 * Words that replace the words of others, by their number of letters. No sentence of a person has three of them in a
 * row, so that a check finds each sentence that was left.
 *
 * @module
 */
export const WORDS: readonly (readonly string[])[] = [
  "",
  "",
  "ox xi mu pi fa mi re ka lo ra ta wa yo zu",
  "elm oak fir ash yew bay reed ivy fern moss owl jay wren crow toad newt eel cod hen elk emu yak gnu keg urn hull",
  "pear plum fig lime kelp sage beet basil rush teal lark dove rook swan heron pike carp tern moth wasp mole hare lamb oats",
  "alder birch maple aspen cedar hazel larch lilac poppy tulip thyme clove finch stork crane egret trout perch otter bison lemur tapir quail raven",
  "acacia willow poplar spruce walnut laurel myrtle jasmin clover cherry papaya ginger fennel turnip radish falcon magpie cuckoo plover puffin badger weasel marten beaver",
  "cypress hemlock juniper bramble thistle currant avocado parsnip spinach chervil lettuce buzzard kestrel lapwing sparrow ostrich pelican gazelle giraffe leopard panther",
  "hawthorn bluebell camellia geranium hyacinth lavender magnolia primrose cucumber zucchini broccoli marjoram rosemary starling bullfinch flamingo pheasant nuthatch antelope elephant",
].map((line, letters) => line.split(" ").filter((word) => letters > 0 && word.length === letters));
