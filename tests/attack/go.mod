module evenkeel.io/attack

go 1.22
