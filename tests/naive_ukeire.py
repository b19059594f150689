"""The strategy `ukeire` the slow and obvious way: every feature counted card by card. Standard library only.

Plays in `naive_deal` as its other strategies do. The sums are made in the order of the kernels', so that not even a
rounding differs.
"""

from naive import LINES, best_win, colour_of, deadwood, is_honour, melds_with, rank_of, without
from naive_deal import PASS, WIN, Seat

LAST_ROW = 8
# At equal gain the meld named first tells what a card mends as.
ORDER = (
    "single",
    "quad",
    "triple",
    "command",
    "field",
    "soldiers4",
    "colours4",
    "soldiers3",
    "colours3",
    "pair",
)


class Ukeire:
    """`weights` holds, by "answers" and "discards", a row of weights by name for each deadwood; `times` multiplies."""

    def __init__(self, weights, times=None):
        self.weights = weights
        self.times = dict.fromkeys(("take", "win", "any", "near", "lone"), 1.0) | (times or {})

    # ------------------------------------------------------------------------------------------- choices

    def answer(self, view, offers):
        """Choose one of the offers."""
        if WIN in offers:
            return WIN
        dead = deadwood(view.rules, view.own.hand)
        row = self.row("answers", dead)
        live = self.live(view)
        worths = {PASS: self.worth(view, view.own, live, row, dead)} if PASS in offers else {}
        for meld in sorted(set(offers) - {PASS}, key=order):
            worths[meld] = self.worth_of_take(view, meld, live, row, dead)
        return max(worths, key=worths.get)  # the first of equals

    def worth_of_take(self, view, meld, live, row, dead):
        """The worth of what is left after a take and the best discard."""
        after = view.own.lay(view.card, meld)
        if not after.discardable():
            return -1e9
        after = less(after, self.best_discard(view, after, live))
        return self.worth(view, after, live, row, dead) + row["take"] * self.times["take"]

    def discard(self, view):
        """Choose a card to discard."""
        return self.best_discard(view, view.own, self.live(view))

    def best_discard(self, view, seat, live):
        """The discard of those that lower the deadwood (of all, where none does) that leaves most; then the lowest."""
        dead = deadwood(view.rules, seat.hand)
        cards = [c for c in set(seat.discardable()) if deadwood(view.rules, less(seat, c).hand) < dead]
        dead = dead - 1 if cards else 0
        cards = sorted(cards or set(seat.discardable()))
        if len(cards) == 1:
            return cards[0]
        row = self.row("discards", dead)
        return max(cards, key=lambda card: (self.worth(view, less(seat, card), live, row, dead), -card))

    def row(self, what, dead):
        """The weights for a deadwood."""
        return self.weights[what][min(dead, LAST_ROW)]

    # ------------------------------------------------------------------------------------------ features

    def live(self, view):
        """By card type: the copies that the seat cannot see, at most four of the flowers."""
        own = [*view.own.hand, *view.own.triples * 3]
        copies = [4] * 28 + [view.rules["flowers"]]
        return [min(4, copies[card] - view.seen[card] - own.count(card)) for card in range(29)]

    def worth(self, view, seat, live, row, dead):
        """What a hand is worth by a row of weights."""
        rules, times, open_ = view.rules, self.times, view.discarded
        now = deadwood(rules, seat.hand)
        wins = {card for card in range(29) if live[card] > 0 and self.wins(rules, seat, card, now)}
        mends = {
            card: self.mends(rules, seat, card, now)
            for card in range(29)
            if live[card] > 0 and card not in wins
        }
        loose = [c for c in set(seat.hand) if deadwood(rules, less(seat, c).hand) < now]

        def copies(cards):
            return sum(live[card] for card in cards)

        def mended(*hows, among=range(29)):
            return copies(card for card, how in mends.items() if how in hows and card in among)

        def near(how):
            return row[f"near{how}"] * mended(how) + row[f"near{how} open"] * mended(how, among=open_)

        total = (
            row["down1"] * (now < dead) + row["down2"] * (now < dead - 1) + row["down3"] * (now < dead - 2)
        )
        total += row["up1"] * (now > dead) + row["up2"] * max(now - dead - 1, 0)
        winning = row["win types"] * len(wins) + row["win live"] * copies(wins)
        total += times["win"] * (winning + row["win open"] * copies(wins & open_))
        total += times["any"] * (
            row["any"] * mended("alike") + row["any open"] * mended("alike", among=open_)
        )
        nearby = near(1) + near(2) + near(3)
        if now > 0:
            nearby += row["own"] * copies(
                c for c, how in mends.items() if is_honour(c) and how not in (1, 2, 3)
            )
        total += times["near"] * nearby
        held = [seat.hand.count(card) for card in set(seat.hand)]
        total += row["pairs"] * held.count(2) + row["triples"] * sum(n > 2 for n in held)
        lone = [card for card in loose if rank_of(card) != 6 and not has_partner(seat.hand, card)]
        total += times["lone"] * row["lone"] * len(lone)
        return (
            total + row["soldiers"] * sum(rank_of(c) == 6 for c in loose) + row["loose live"] * copies(loose)
        )

    def wins(self, rules, seat, card, dead):
        """Whether the seat wins with the card."""
        if dead > 3:
            return False  # a meld holds at most three cards of the hand
        return best_win(rules, seat.hand, card, seat.fixed_points(rules), seat.triples) is not None

    def mends(self, rules, seat, card, dead):
        """How a card from the own draw mends the hand: "alike", by 1, 2 or 3, or None."""
        most, best = 0, "single"
        melds = melds_with(rules, card, seat.hand, seat.triples)
        for kind, partners in sorted(melds, key=order):
            if kind == "pair" and not rules["drawer_pair"]:
                continue
            locked = kind == "quad" and card in seat.triples
            left = seat.hand if locked else without(seat.hand, partners)
            lower = dead - deadwood(rules, left) + 1  # one for the discard
            if lower > most:
                most, best = lower, kind
        if best == "single":
            return None
        return "alike" if best in ("triple", "quad") else min(most, 3)


def order(meld):
    """The place of a (kind, partners) among all that a hand makes with a card."""
    return ORDER.index(meld[0]), meld[1]


def has_partner(hand, card):
    """Whether a card's command or field has another of its cards in the hand."""
    ranks = next(ranks for ranks in LINES.values() if rank_of(card) in ranks)
    return any(colour_of(card) * 7 + rank in hand for rank in ranks if rank != rank_of(card))


def less(seat, card):
    """The seat without a card."""
    return Seat(without(seat.hand, [card]), seat.triples, seat.quads, seat.exposed)
