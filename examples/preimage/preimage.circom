pragma circom 2.0.0;

// Knowledge of x with y = f(x), f being 91 rounds of x -> (x + salt + i)^7: the shape of MiMC (eprint 2016/492)
// with counters for round constants. An example circuit: not a hash to rely on.
template Preimage(ROUNDS) {
    signal input x;
    signal input salt;
    signal output y;
    signal base[ROUNDS];
    signal square[ROUNDS];
    signal fourth[ROUNDS];
    signal sixth[ROUNDS];
    signal state[ROUNDS + 1];

    state[0] <== x;
    for (var i = 0; i < ROUNDS; i++) {
        base[i] <== state[i] + salt + i;
        square[i] <== base[i] * base[i];
        fourth[i] <== square[i] * square[i];
        sixth[i] <== fourth[i] * square[i];
        state[i + 1] <== sixth[i] * base[i];
    }
    y <== state[ROUNDS];
}

component main {public [salt]} = Preimage(91);
