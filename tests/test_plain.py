"""Strategies in plain Python: the same deals as compiled ones that choose the same, and nothing that is not theirs."""

import gc

import numpy as np
import pytest
from engine_tools import VARIANT_IDS, VARIANTS, rules_of, same_chunks

from sisepai.cards import N_TYPES
from sisepai.engine import records
from sisepai.engine.plain import OWN, SHOWN
from sisepai.engine.randomness import RNG, below
from sisepai.engine.records import PASS, WIN
from sisepai.engine.simulator import Simulator, decks
from sisepai.rules import hand, offers
from sisepai.rules.hand import add_card, deadwood, discardable, held, loose_cards, remove_card
from sisepai.rules.offers import dead_after, lift_partners, put_back_partners
from sisepai.rules.tables import POINTS_SHIFT
from sisepai.strategies import STRATEGIES, Entry, Parameter
from sisepai.strategies.plugins import strategy_of


class Random:
    """`random`, once more."""

    def answer(self, view):
        """Uniform over what is offered."""
        if view.offers.win:
            return WIN
        choice = below(view.rng, view.offers.n + (not view.offers.forced))
        return choice if choice < view.offers.n else PASS

    def discard(self, view):
        """Uniform over the cards."""
        legal = int(discardable(view.hand))
        cards = [card for card in range(N_TYPES) if legal >> card & 1 for _ in range(view.hand.count[card])]
        return cards[below(view.rng, len(cards))]


class Greedy:
    """`greedy`, once more."""

    def answer(self, view):
        """The meld that leaves the least deadwood."""
        offered = view.offers
        if offered.win:
            return WIN
        found = [(self.after(view, i), -self.points(view, i), i) for i in range(offered.n)]
        best = min(found, default=None)
        return best[2] if best and (offered.forced or best[0] < view.hand.dead) else PASS

    def after(self, view, i):
        """The least deadwood after laying meld `i` and a discard."""
        dead = dead_after(view.tables, view.hand, view.offers, i)
        if dead:
            return dead - 1
        locked = view.hand.locked
        lift_partners(view.tables, view.hand, view.offers, i)
        least = min((dead for dead, _ in self.discards(view)), default=98)
        put_back_partners(view.tables, view.hand, view.offers, i, locked)
        return least

    def points(self, view, i):
        """Points of meld `i`."""
        return view.tables.exposed[view.offers.kind[i], view.table.card] >> POINTS_SHIFT

    def discards(self, view):
        """Deadwood after each discard, and the card."""
        legal, found = int(discardable(view.hand)), []
        for card in range(N_TYPES):
            if legal >> card & 1:
                remove_card(view.tables, view.hand, card)
                found.append((deadwood(view.tables, view.hand), card))
                add_card(view.tables, view.hand, card)
        return found

    def discard(self, view):
        """What costs nothing and may become least."""
        loose = int(loose_cards(view.tables, view.hand))
        cards = [card for card in range(N_TYPES) if loose >> card & 1]
        if not cards:
            found = self.discards(view)
            cards = [card for dead, card in found if dead == min(found)[0]]
        return min(cards, key=lambda card: (self.potential(view, card), card))

    def potential(self, view, card):
        """Rules, section 7."""
        in_hand = [card for card in range(N_TYPES) if held(view.hand, card)]
        if card % 7 == 6:
            return 2 * self.live(view, card) + 2 * len({6, 13, 20, 27} - {card} & set(in_hand) - {card})
        first = card - card % 7 + (3 if card % 7 >= 3 else 0)
        a, b = {first, first + 1, first + 2} - {card}
        return (
            2 * self.live(view, card)
            + self.live(view, b) * (a in in_hand)
            + self.live(view, a) * (b in in_hand)
        )

    def live(self, view, card):
        """Copies that the seat cannot see."""
        return int(view.tables.copies[card] - view.table.seen[card] - held(view.hand, card))


PLAIN = {"random": Entry(strategy_of(Random)), "greedy": Entry(strategy_of(Greedy))}


def seated(rules, names, plain):
    """A simulator with entries by seat; those whose places are in `plain` are in plain Python."""
    entries = [
        PLAIN[n] if seat in plain else Entry(STRATEGIES[n]) for seat, n in enumerate(names[: rules.players])
    ]
    different = [entry for place, entry in enumerate(entries) if entry not in entries[:place]]
    seats = np.array([different.index(entry) for entry in entries], np.uint8)
    turned = np.array([np.roll(seats, turn) for turn in range(rules.players)], np.uint8)
    return Simulator(rules, different, turned, 7)


@pytest.mark.parametrize("names", [("random",) * 4, ("greedy",) * 4], ids=["random", "greedy"])
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=VARIANT_IDS)
def test_the_same_choices_make_the_same_bytes(name, options, names):
    rules = rules_of(name, options)
    plain = seated(rules, names, range(4))
    assert plain.in_steps
    assert same_chunks(
        plain.play(1000, 24, events=True), seated(rules, names, ()).play(1000, 24, events=True)
    )


@pytest.mark.parametrize("name", ["cardavia", "classic", "ten-hu"])
def test_compiled_and_plain_at_one_table(name):
    rules, names = rules_of(name, {}), ("random", "greedy", "greedy", "random")
    whole = seated(rules, names, ()).play(48, 40, events=True)
    assert same_chunks(seated(rules, names, (0, 1)).play(48, 40, events=True), whole)
    assert same_chunks(seated(rules, names, (2,)).play(48, 40), whole)


def test_matches_and_given_decks():
    rules = rules_of("classic", {})
    one = np.zeros((1, 4), np.uint8)
    plain, compiled = (
        Simulator(rules, [e], one, 7, 6) for e in (PLAIN["greedy"], Entry(STRATEGIES["greedy"]))
    )
    assert same_chunks(plain.play(12, 18, events=True), compiled.play(12, 18, events=True))
    dealers, cards = decks(rules, 3, 0, 10)
    given = [sim.play_decks(dealers, cards, events=True, first=4) for sim in (plain, compiled)]
    assert same_chunks(*given)


def test_no_deals():
    chunk = seated(rules_of("cardavia", {}), ("random",) * 4, (0,)).play(5, 0, events=True)
    assert (len(chunk.rows), len(chunk.events), len(chunk.event_counts)) == (0, 0, 0)


class Vandal(Random):
    """Writes all over what it is shown, but for its random stream, after it has chosen."""

    def answer(self, view):
        """As random."""
        return self.spoil(view, super().answer(view))

    def discard(self, view):
        """As random."""
        return self.spoil(view, super().discard(view))

    def spoil(self, view, choice):
        """Fill every record with ones."""
        for record in view:
            if isinstance(record, np.record) and record is not view.rng:
                record.setfield(np.frombuffer(b"\1" * record.dtype.itemsize, record.dtype)[0], record.dtype)
        return choice


def test_what_a_strategy_does_to_its_view_changes_nothing():
    rules = rules_of("classic", {})
    one = np.zeros((1, 4), np.uint8)
    spoiled = Simulator(rules, [Entry(strategy_of(Vandal))], one, 7).play(0, 30, events=True)
    assert same_chunks(
        spoiled, Simulator(rules, [Entry(STRATEGIES["random"])], one, 7).play(0, 30, events=True)
    )


class Witness(Random):
    """Keeps what it was shown, and how often it was made."""

    made, views = 0, []

    def __init__(self):
        Witness.made += 1
        self.seats = set()

    def answer(self, view):
        """As random."""
        self.keep(view)
        return super().answer(view)

    def discard(self, view):
        """As random."""
        self.keep(view)
        assert not view.offers.n
        return super().discard(view)

    def keep(self, view):
        """Is one and the same seat's all along."""
        self.seats.add(view.seat)
        assert len(self.seats) == 1
        Witness.views.append(view)


def test_an_instance_a_seat_of_each_deal_that_is_shown_no_hidden_card():
    entry = Entry(strategy_of(Witness))
    Witness.made, Witness.views = 0, []
    rules = rules_of("ten-hu", {})
    Simulator(rules, [entry], np.zeros((1, 4), np.uint8), 7).play(0, 5)
    assert Witness.made == 20
    for view in Witness.views:
        assert view.hand.cards == view.table.cards[view.seat]
        assert not view.history.event[view.table.events :].any()
        assert not view.offers.kind[view.offers.n :].any()
        assert not view.offers.partners[view.offers.n :].any()
        assert not view.trial.tobytes().strip(b"\0"), "room of its own, in which nothing was played"
        assert not view.scratch.tobytes().strip(b"\0")
        for record in view:
            if isinstance(record, np.record):
                memory = record
                while memory.base is not None:
                    memory = memory.base
                assert memory.dtype in (OWN, SHOWN), "no way from a record into the machine"
    kept = [view.hand.cards for view in Witness.views]
    gc.collect()
    assert kept == [view.hand.cards for view in Witness.views], "a view may be kept"


class Cheat(Random):
    """Looks at the deck."""

    cheats = True

    def discard(self, view):
        """As random, with an eye on the others."""
        game = view.trial.start
        assert game.hands[view.seat].cards == view.hand.cards
        assert sum(game.hands[seat].cards for seat in range(4)) > game.hands[view.seat].cards
        return super().discard(view)


def test_a_cheat_is_shown_the_deal():
    entry = Entry(strategy_of(Cheat))
    assert entry.label == "cheat (cheats)"
    Simulator(rules_of("cardavia", {}), [entry], np.zeros((1, 4), np.uint8), 7).play(0, 3)


def test_parameters_come_as_keywords_and_in_the_view():
    class Tuned(Random):
        parameters = (
            Parameter("risk", 0.5, "", low=0, high=1),
            Parameter("depth", 2, "", low=0, high=9, whole=True),
            Parameter("aim", "win", "", choices=("win", "score")),
        )

        def __init__(self, risk, depth, aim):
            self.got = (risk, depth, aim)

        def discard(self, view):
            assert self.got == (0.25, 2, "score")
            assert isinstance(self.got[1], int)
            assert list(view.parameters.value[:3]) == [0.25, 2, 1]
            return super().discard(view)

    entry = Entry(strategy_of(Tuned), {"risk": 0.25, "aim": "score"})
    Simulator(rules_of("cardavia", {}), [entry], np.zeros((1, 4), np.uint8), 7).play(0, 2)


def test_fields_of_a_view_are_reached_as_attributes():
    """A name that NumPy's scalars have as well would give their method instead."""
    named = [
        records.TABLE,
        records.HISTORY,
        hand.HAND,
        offers.OFFERS,
        records.PARAMETERS,
        records.SCRATCH,
        RNG,
    ]
    for dtype in named:
        record = np.zeros(1, dtype).view(np.recarray)[0]
        for field in dtype.names:
            assert not callable(getattr(record, field)), field
