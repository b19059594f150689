"""`search`: the worlds it samples may be as they are, its memory of the others is right, and it chooses as it tells."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from engine_tools import PRESET_NAMES, decisions, rules_of, simulator

from sisepai.cards import EVENTS, FLOWER, N_TYPES
from sisepai.engine.records import EVENT, PASS, WIN
from sisepai.engine.simulator import compile_function
from sisepai.engine.stepper import Stepper
from sisepai.strategies.belief import sample_world, set_up

TABLES = [
    *((name, {}) for name in PRESET_NAMES),
    ("classic", {"players": 2, "flowers": 3}),
    ("classic", {"redeal": "always"}),
]
SEARCH = "search:rollouts=30"


@cache
def kernel(likely):
    """Samples a first world where none is settled yet, another one otherwise."""

    def play(view):
        if view.trial.estimates.n == 0:
            set_up(view)
        sample_world(view, likely)
        return 0

    return compile_function(play, keep=False)


def worlds(stepper, likely, count):
    """The game of each of some worlds, as the other seats and the stock are in it."""
    view = stepper.view()
    for number in range(count):
        view.trial.estimates.n = number
        kernel(likely)(view)
        yield view.trial.start


def cards_of(hand):
    return Counter({card: int(n) for card, n in enumerate(hand["count"]) if n})


@pytest.mark.parametrize("likely", [True, False])
@pytest.mark.parametrize(("name", "options"), TABLES)
def test_a_world_fits_what_the_seat_sees(name, options, likely):
    met = 0
    for stepper in decisions(name, options, "ukeire", 6):
        game, view = stepper.work.game, stepper.view()
        table = game.table
        own = cards_of(view.hand) + Counter(
            dict.fromkeys([c for c in range(N_TYPES) if view.hand.locked >> c & 1], 3)
        )
        seen = Counter({card: int(n) for card, n in enumerate(table.seen) if n})
        pack = Counter(view.tables.cards[: view.tables.pack].tolist())
        for start in worlds(stepper, likely, 3):
            hands = [start.hands[seat] for seat in range(1, table.players)]
            assert [int(hand.cards) for hand in hands] == table.cards[1 : table.players].tolist()
            stock = start.hidden.deck[start.hidden.next : start.hidden.next + table.stock]
            assert own + seen + sum(map(cards_of, hands), Counter(stock.tolist())) == pack
            assert (start.table.tobytes(), start.hands[0].tobytes()) == (table.tobytes(), view.hand.tobytes())
            met += 1
    assert met > 50


def test_worlds_that_are_all_alike_are():
    """Where a card lies is a matter of how many cards lie there: chi-square over the places of one hidden card."""
    stepper = next(decisions("cardavia", {}, "ukeire", 1))
    table = stepper.work.game.table
    own, count = stepper.view().hand["count"], 4_000
    card = next(c for c in range(28) if own[c] == 0 and table.seen[c] == 0)
    places = np.zeros(4)
    for start in worlds(stepper, False, count):
        held = [int(start.hands[seat]["count"][card]) for seat in range(1, 4)]
        places += [*held, 4 - sum(held)]
    sizes = np.array([*table.cards[1:4], table.stock])
    expected = 4 * count * sizes / sizes.sum()
    # Copies of one card crowd each other out a little, so that the variance is smaller than the chi-square's.
    assert ((places - expected) ** 2 / expected).sum() < 16.3  # 0.1% of chi-square with three degrees


def may_run(rules, kind, distance, card):
    """Whether a seat so far after the drawer or discarder may lay the card as command or field."""
    if card % 7 == 6 or card == FLOWER:
        return False
    if kind == "draw":
        return distance == 0 or (distance == 1 and "field" in rules.takes["draw_next"] and card % 7 != 0)
    return distance == 1 and card % 7 != 0


def told(events, rules):
    """What the others let pass, might have laid in turn, discarded, and let pass lately: sets by seat."""
    players = rules.players
    passed, in_turn, discarded, since = ([set() for _ in range(players)] for _ in range(4))
    for place, event in enumerate(events[:-1]):
        kind, seat, card = EVENTS[event["event"]], int(event["seat"]), int(event["card"])
        if kind == "redeal":
            for sets in (passed, in_turn, discarded, since):
                for one in sets:
                    one.clear()
        if kind not in ("draw", "discard"):
            continue
        before = EVENTS[events[place - 1]["event"]] if place else ""
        if kind == "discard" and before != "draw":
            discarded[seat].add(card)
            since[seat].clear()
        after = events[place + 1]
        taker = int(after["seat"]) if EVENTS[after["event"]] == "take" else None
        for other in range(players):
            if other != taker and (kind == "draw" or other != seat):
                passed[other].add(card)
                since[other].add(card)
                if taker is None and may_run(rules, kind, (other - seat) % players, card):
                    in_turn[other].add(card)
        if taker is not None:
            since[taker].clear()
    return passed, in_turn, discarded, since


@pytest.mark.parametrize(("name", "options"), TABLES)
def test_what_it_knows_of_the_others(name, options):
    met = 0
    for stepper in decisions(name, options, "ukeire", 40):
        list(worlds(stepper, False, 1))
        table, belief = stepper.work.game.table, stepper.work.trial[0].belief
        events = stepper.work.game.history.event[: table.events].view(EVENT)
        fields = ("passed", "in_turn", "discarded", "since")
        for field, sets in zip(fields, told(events, rules_of(name, options)), strict=True):
            masks = [sum(1 << card for card in one) for one in sets]
            assert belief[field][: table.players].tolist() == masks, field
        met += 1
    assert met > 100


def test_likely_worlds_are_nearer_to_the_truth():
    """Real hands of `greedy` have less deadwood than such as are dealt at random; likely ones about as much."""
    dead = {"true": [], "likely": [], "alike": []}
    for stepper in decisions("cardavia", {}, "ukeire", 60):
        game = stepper.work.game
        if game.table.stock < 25:
            dead["true"].append(game.hands["dead"][1:4].mean())
            for key in ("likely", "alike"):
                starts = worlds(stepper, key == "likely", 8)
                dead[key].append(np.mean([start.hands["dead"][1:4].mean() for start in starts]))
    true, likely, alike = (np.mean(dead[key]) for key in ("true", "likely", "alike"))
    assert alike - true > 1
    assert abs(likely - true) < 0.4 * (alike - true)


def test_it_chooses_what_it_tells():
    """A win is taken; else the choice has the greatest mean, or its policy's own choice is not clearly behind."""
    seen = Counter()
    for stepper in decisions("cardavia", {}, SEARCH + ":rounds=alike", 6):
        choice = stepper.ask()
        estimates = stepper.work.trial[0].estimates
        n = int(estimates.n)
        if n == 0:
            assert choice == WIN
        elif n > 1:
            assert set(estimates.samples[:n].tolist()) == {30}
            means = estimates["mean"][:n]
            assert choice == estimates.choice[:n][means.argmax()]
            assert np.allclose(estimates.error[:n], np.sqrt(means * (1 - means) / 30))
            seen["pass" if choice == PASS else "other"] += 1
    assert seen["other"] > 5


def test_rollouts_go_to_close_contenders():
    spent, even = 0, 0
    for stepper in decisions("cardavia", {}, "search:rollouts=100", 6):
        stepper.ask()
        estimates = stepper.work.trial[0].estimates
        samples = estimates.samples[: int(estimates.n)]
        if len(samples) > 3:
            assert samples.sum() <= 100 * len(samples) + len(samples)
            means = estimates["mean"][: len(samples)]
            assert samples[means.argmin()] <= samples[means.argmax()]
            spent, even = spent + (samples.max() > 100), even + 1
    assert spent > even / 2


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_any_cut_of_the_deals_gives_the_same(name):
    rules = rules_of(name, {})
    sim = simulator(rules, f"{SEARCH},greedy,greedy,greedy")
    whole = sim.play(0, 8).rows
    assert np.concatenate([sim.play(first, 2).rows for first in range(0, 8, 2)]).tobytes() == whole.tobytes()


def test_the_objective_changes_what_it_weighs():
    sim = simulator(rules_of("cardavia", {}), f"{SEARCH}:objective=score,greedy,greedy,greedy")
    stepper = Stepper(sim)
    most, due = 0.0, stepper.start(0, pause=1)
    while due:
        choice = stepper.ask()
        estimates = stepper.work.trial[0].estimates
        most = max(most, *estimates["mean"][: max(int(estimates.n), 1)])
        due = stepper.submit(choice)
    assert most > 1
