Network n {
Layer A {
Type: DSCONV
Dimensions { K: 1, C: 10, Y: 10, X: 9, R: 3, S: 3 }
Dataflow {
SpatialMap(4,4) C;
TemporalMap(3,3) Y';
TemporalMap(7,7) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
Cluster(8,P);
TemporalMap(1,1) C;
TemporalMap(2,2) Y';
SpatialMap(1,1) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
}
}
}
